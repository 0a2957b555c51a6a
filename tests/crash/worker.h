/* SPDX-License-Identifier: MIT */
/* What a driver that runs workers needs: how many, on which processor, and a clock. */
#ifndef TSEM_CRASH_WORKER_H
#define TSEM_CRASH_WORKER_H

/* How many processors this process may use, but `most` at most. */
unsigned count_processors(unsigned most);

/* From here on the caller and its children use one processor, a different one for each worker as far as there are enough. A tracer
 * and the processes that it traces take turns: on one processor they are faster. */
void stay_on_processor(unsigned worker);

double seconds_now(void);

#endif
