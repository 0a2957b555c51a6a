/* SPDX-License-Identifier: MIT */
/* For drivers that run workers: the number of workers, a processor for each, and a clock. */
#ifndef TSEM_CRASH_WORKER_H
#define TSEM_CRASH_WORKER_H

/* The number of processors that this process may use, `most` at most. */
unsigned count_processors(unsigned most);

/*
 * Binds the caller and its later children to one processor, a different one for each worker where there are enough. A
 * tracer and its tracees run alternately, so they are faster on one processor.
 */
void stay_on_processor(unsigned worker);

double seconds_now(void);

#endif
