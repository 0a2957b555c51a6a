/* SPDX-License-Identifier: MIT */
/* One process under ptrace: single steps, runs to an instruction, sleep, kill. */
#ifndef TSEM_TESTS_CRASH_TRACEE_H
#define TSEM_TESTS_CRASH_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A traced process stops here by itself. The undefined instruction has no other effect. */
#if defined(__x86_64__)
#define TRACEE_MARK() __asm__ volatile("ud2" ::: "memory")
#else
#define TRACEE_MARK() __builtin_trap()
#endif

enum where {
	TRACEE_NONE,
	TRACEE_STOPPED, /* between two instructions */
	TRACEE_AT_MARK, /* at a TRACEE_MARK() */
	TRACEE_ASLEEP,  /* in a system call that waits; the step or run that led there has not ended */
	TRACEE_FORKED,  /* at a vfork() */
	TRACEE_GONE,    /* has ended */
};

struct tracee {
	pid_t pid;
	enum where where;
	int status;         /* of waitpid */
	int stat_fd;        /* /proc/PID/stat */
	bool running;       /* a step or run has not ended */
	uint64_t broken_pc; /* the breakpoint before which it fell asleep, and the word that was there */
	long original;
};

/* Takes over the process `pid`, which has called PTRACE_TRACEME, and waits for its first stop. */
void tracee_begin(struct tracee *tracee, pid_t pid);

/* Executes one instruction. A system call that waits leaves the tracee asleep; `may_sleep` makes that known sooner. */
void tracee_step(struct tracee *tracee, bool may_sleep);

/* Runs to the next mark, the end, or sleep. */
void tracee_run(struct tracee *tracee);

/*
 * Runs until the tracee is about to execute the instruction at `pc`, where it is not now. False if it stopped
 * elsewhere.
 */
bool tracee_run_to(struct tracee *tracee, uint64_t pc);

/* Checks whether a sleeping tracee has gone on. */
void tracee_poll(struct tracee *tracee);

/* Moves the tracee behind its mark. */
void tracee_pass_mark(struct tracee *tracee);

uint64_t tracee_pc(const struct tracee *tracee);
bool tracee_is_at_system_call(const struct tracee *tracee);

/* For tracee.c: removes the breakpoint before which the tracee fell asleep. True if the tracee has just hit it. */
bool tracee_remove_breakpoint(struct tracee *tracee);

/*
 * For tracee_registers.c: continues with PTRACE_CONT or PTRACE_SINGLESTEP; waits until the tracee has stopped or
 * sleeps.
 */
void tracee_go(struct tracee *tracee, int how);
void tracee_wait(struct tracee *tracee, int how, bool look);
_Noreturn void tracee_fail(const char *state);

/* Sends SIGKILL and waits until the tracee is dead. With `leave_zombie`, tracee_reap() reaps it later. */
void tracee_kill(struct tracee *tracee, bool leave_zombie);
void tracee_reap(struct tracee *tracee);

/* The state letter of /proc/PID/stat; '?' if there is none. */
char process_state(pid_t pid);

#endif
