/* SPDX-License-Identifier: MIT */
/* A thread that waits in the queue for one permit while the jobserver serves its clients. */
#ifndef TSEM_CLI_JOBSERVER_REQUEST_H
#define TSEM_CLI_JOBSERVER_REQUEST_H

#include <pthread.h>
#include <stdbool.h>

#include "tsem.h"

struct queued_request {
	bool pending;
	int ready; /* a descriptor that becomes readable when the wait ends */
	tsem *sem;
	tsem_hold hold;
	int result;
	pthread_t thread;
};

/* Both return 0 or a negative errno. Opening replaces the action of SIGRTMIN. */
int request_open(struct queued_request *request, tsem *sem);
int request_start(struct queued_request *request);

/* After `ready`: 0 and the hold, or the negative errno of the wait. */
int request_finish(struct queued_request *request, tsem_hold *hold);

/* Leaves the queue. Gives back a permit that was granted meanwhile. */
void request_cancel(struct queued_request *request);

void request_close(struct queued_request *request);

#endif
