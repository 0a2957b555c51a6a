/* SPDX-License-Identifier: MIT */
/* What take, acquire and run share: opening, the wait with its messages and signals, and how it ends. */
#ifndef TSEM_CLI_WAITING_H
#define TSEM_CLI_WAITING_H

#include "options.h"
#include "tsem.h"

/* Opens o->name, or with -j creates it. Returns -1 to go on, or an exit status. */
int open_for_use(const struct options *o, tsem **sem);

/* Opens o->name, whatever -j says. */
int open_existing(const struct options *o, tsem **sem);

/* It exists with another number of permits than o->permits. Returns EXIT_TSEM_FAILED. */
int complain_about_limit(const struct options *o);

/* What is asked for, and what came of it. */
struct request {
	size_t n;
	tsem *const *sems;
	bool any;         /* of several, one */
	tsem_hold *holds; /* one for each, or with `any` one; NULL: take */
	size_t which;     /* with `any`: the one that was granted */
};

/* How many of the holds are there, once it is granted. */
size_t granted(const struct request *request);

/* Returns 0 or the library's error; a signal that ended the wait ends this process. */
int wait_for_permits(const struct options *o, struct request *request);

/* The exit status for what wait_for_permits returned, with a message where one is due. */
int explain_wait(const struct options *o, const struct request *request, int error);

/* Gives back a hold that nobody has used: what came with it, that a holder died, is told to the next one. */
void give_back_unused(tsem_hold *hold);

#endif
