/* SPDX-License-Identifier: MIT */
/* For drivers that run workers: their number, a processor for each, memory that they share, and a clock. */
#ifndef TSEM_CRASH_WORKER_H
#define TSEM_CRASH_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The number of processors that this process may use, `most` at most. */
unsigned count_processors(unsigned most);

/*
 * Binds the caller and its later children to one processor, a different one for each worker where there are enough. A
 * tracer and its tracees run alternately, so they are faster on one processor.
 */
void stay_on_processor(unsigned worker);

double seconds_now(void);

/* Zeroed memory that this process and its later children share. */
void *share_memory(size_t size);

/* Waits for the end of a child through all signals. Returns its status. */
int await_end(pid_t pid);

enum { RUN_WORKERS_MAX = 16 };

/*
 * Runs work(0, arg) to work(n - 1, arg), each in a child, and calls `ended`, if not NULL, for each child that has ended.
 * A signal with a handler kills the children. False if a result was not 0.
 */
bool run_workers(unsigned n, int (*work)(unsigned worker, void *arg), void *arg, void (*ended)(pid_t pid));

/* Whether this process may trace its children. */
bool may_trace(void);

/* Says why a sweep is not run. Returns the exit status for that. */
int skip_sweep(const char *sweep, const char *why);

#endif
