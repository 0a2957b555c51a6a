/* SPDX-License-Identifier: MIT */
/* The registers and breakpoints of a traced process: this file depends on the processor. */
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tracee.h"

#if defined(__x86_64__)

enum { MARK_BYTES = 2, BREAKPOINT = 0xcc, SYSCALL = 0x050f };

#define PC_OFFSET offsetof(struct user, regs.rip)

static void
set_pc(const struct tracee *tracee, uint64_t pc)
{
	if (ptrace(PTRACE_POKEUSER, tracee->pid, PC_OFFSET, pc) != 0)
		tracee_fail("PTRACE_POKEUSER");
}

uint64_t
tracee_pc(const struct tracee *tracee)
{
	errno = 0;
	const long pc = ptrace(PTRACE_PEEKUSER, tracee->pid, PC_OFFSET, NULL);
	if (errno != 0)
		tracee_fail("PTRACE_PEEKUSER");
	return (uint64_t)pc;
}

bool
tracee_is_at_system_call(const struct tracee *tracee)
{
	return (ptrace(PTRACE_PEEKTEXT, tracee->pid, tracee_pc(tracee), NULL) & 0xffff) == SYSCALL;
}

void
tracee_pass_mark(struct tracee *tracee)
{
	set_pc(tracee, tracee_pc(tracee) + MARK_BYTES);
	tracee->where = TRACEE_STOPPED;
}

static void
poke(const struct tracee *tracee, uint64_t pc, long word)
{
	if (ptrace(PTRACE_POKETEXT, tracee->pid, pc, word) != 0)
		tracee_fail("PTRACE_POKETEXT");
}

/* A write makes the text a private copy of the process, so no other process hits the breakpoint. */
bool
tracee_run_to(struct tracee *tracee, uint64_t pc)
{
	errno = 0;
	const long original = ptrace(PTRACE_PEEKTEXT, tracee->pid, pc, NULL);
	if (errno != 0)
		tracee_fail("PTRACE_PEEKTEXT");
	poke(tracee, pc, (long)(((unsigned long)original & ~0xffUL) | BREAKPOINT));
	tracee_go(tracee, PTRACE_CONT);
	tracee_wait(tracee, PTRACE_CONT, false);
	if (tracee->where == TRACEE_ASLEEP) {
		tracee->broken_pc = pc;
		tracee->original = original;
	}
	if (tracee->where == TRACEE_GONE || tracee->where == TRACEE_ASLEEP)
		return false;
	poke(tracee, pc, original);
	if (tracee->where != TRACEE_STOPPED || tracee_pc(tracee) != pc + 1)
		return false;
	set_pc(tracee, pc);
	return true;
}

bool
tracee_remove_breakpoint(struct tracee *tracee)
{
	const uint64_t pc = tracee->broken_pc;
	tracee->broken_pc = 0;
	poke(tracee, pc, tracee->original);
	if (tracee->where != TRACEE_STOPPED || tracee_pc(tracee) != pc + 1)
		return false;
	set_pc(tracee, pc);
	return true;
}

#else

bool
tracee_remove_breakpoint(struct tracee *tracee)
{
	(void)tracee;
	return false;
}

uint64_t
tracee_pc(const struct tracee *tracee)
{
	(void)tracee;
	return 0;
}

bool
tracee_is_at_system_call(const struct tracee *tracee)
{
	(void)tracee;
	return false;
}

void
tracee_pass_mark(struct tracee *tracee)
{
	(void)tracee;
}

bool
tracee_run_to(struct tracee *tracee, uint64_t pc)
{
	(void)tracee;
	(void)pc;
	return false;
}

#endif
