/* SPDX-License-Identifier: MIT */
/* One process under ptrace: step it, let it run to a place, find out that it sleeps, kill it. */
#ifndef TSEM_TESTS_CRASH_TRACEE_H
#define TSEM_TESTS_CRASH_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a traced process stops by itself: an undefined instruction, which costs it nothing else. */
#if defined(__x86_64__)
#define TRACEE_MARK() __asm__ volatile("ud2" ::: "memory")
#else
#define TRACEE_MARK() __builtin_trap()
#endif

enum where {
	TRACEE_NONE,
	TRACEE_STOPPED, /* between two instructions */
	TRACEE_AT_MARK, /* at a TRACEE_MARK() */
	TRACEE_ASLEEP,  /* in a system call that waits; the step or run that led there is not over */
	TRACEE_FORKED,  /* at a vfork() */
	TRACEE_GONE,    /* has ended */
};

struct tracee {
	pid_t pid;
	enum where where;
	int status;         /* of waitpid */
	int stat_fd;        /* /proc/PID/stat */
	bool running;       /* a step or run is not over */
	uint64_t broken_pc; /* a breakpoint that it fell asleep before, and what stood there */
	long original;
};

/* Adopts the process `pid`, which has called PTRACE_TRACEME, and waits for its first stop. */
void tracee_begin(struct tracee *tracee, pid_t pid);

/* One instruction. Asleep if it is a system call that waits, which is noticed sooner if it is said that it may. */
void tracee_step(struct tracee *tracee, bool may_sleep);

/* Runs to the next mark, the end, or sleep. */
void tracee_run(struct tracee *tracee);

/* Runs until it is about to execute the instruction at `pc`, where it is not now; false if it stopped elsewhere. */
bool tracee_run_to(struct tracee *tracee, uint64_t pc);

/* Looks whether a sleeper has gone on. */
void tracee_poll(struct tracee *tracee);

/* Steps behind the mark it stands at. */
void tracee_pass_mark(struct tracee *tracee);

uint64_t tracee_pc(const struct tracee *tracee);
bool tracee_is_at_system_call(const struct tracee *tracee);

/* For tracee.c: after it has stopped, the breakpoint that it fell asleep before. True if it has just run into it. */
bool tracee_remove_breakpoint(struct tracee *tracee);

/* For tracee_registers.c: lets it go on, as PTRACE_CONT or PTRACE_SINGLESTEP, and waits until it has stopped or sleeps. */
void tracee_go(struct tracee *tracee, int how);
void tracee_wait(struct tracee *tracee, int how, bool look);
_Noreturn void tracee_fail(const char *state);

/* SIGKILL, and waits until it is dead. With `leave_zombie` it is not reaped before tracee_reap(). */
void tracee_kill(struct tracee *tracee, bool leave_zombie);
void tracee_reap(struct tracee *tracee);

/* The state letter of /proc/PID/stat; '?' if there is none. */
char process_state(pid_t pid);

#endif
