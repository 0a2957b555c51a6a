/* SPDX-License-Identifier: MIT */
/* Waiting in line for one permit while doing something else: in a thread. */
#ifndef TSEM_CLI_JOBSERVER_REQUEST_H
#define TSEM_CLI_JOBSERVER_REQUEST_H

#include <pthread.h>
#include <stdbool.h>

#include "tsem.h"

struct request_in_line {
	bool pending;
	int ready; /* descriptor: becomes readable when the wait is over */
	tsem *sem;
	tsem_hold hold;
	int result;
	pthread_t thread;
};

/* Both return 0 or a negative errno. Opening replaces the action of a real-time signal. */
int request_open(struct request_in_line *request, tsem *sem);
int request_start(struct request_in_line *request);

/* After `ready`: 0, and the hold, or why there is none. */
int request_finish(struct request_in_line *request, tsem_hold *hold);

/* Gives the place up; what was granted meanwhile is given back. */
void request_cancel(struct request_in_line *request);

void request_close(struct request_in_line *request);

#endif
