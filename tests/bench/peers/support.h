/* SPDX-License-Identifier: MIT */
/* What both peers and workloads need. */
#ifndef TSEM_BENCH_SUPPORT_H
#define TSEM_BENCH_SUPPORT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program with a message if a call of the benchmark itself fails. */
_Noreturn void die(const char *what);

/* Zeroed memory that forked children share. */
void *shared_memory(size_t size);

/*
 * The same, at a place in its page where no earlier semaphore was. The place of a semaphore's cache line changes the
 * rate of two contending CPUs up to threefold, so every repetition gets another one.
 */
void *fresh_line(size_t size);
void fresh_line_free(void *line, size_t size);

uint64_t now_ns(void);
unsigned cpus(void);
void pin_to(unsigned cpu);

enum scope { BETWEEN_PROCESSES, BETWEEN_THREADS };
void futex_wait(atomic_uint *word, unsigned expected, enum scope scope);
void futex_wake(atomic_uint *word, int count, enum scope scope);

static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

#endif
