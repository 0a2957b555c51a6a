/* SPDX-License-Identifier: MIT */
/* What take, acquire and run share: opening, the wait with its messages and signals, and how it ends. */
#ifndef TSEM_CLI_WAITING_H
#define TSEM_CLI_WAITING_H

#include "options.h"
#include "tsem.h"

/* Opens o->name. With -j, creates it if it does not exist. */
tsem *open_for_use(const struct options *o);

/* Opens o->name; -j has another meaning for the verb. */
tsem *open_existing(const struct options *o);

/* Says that o->name was created with another number of permits than o->permits. */
_Noreturn void die_of_limit(const struct options *o);

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

/* The exit status for what wait_for_permits() returned: the permits were granted or not acquired. Dies of any other error. */
int status_of_wait(const struct options *o, const struct request *request, int error);

/* Gives back a hold that nobody has used: what came with it, that a holder died, is told to the next one. */
void give_back_unused(tsem_hold *hold);

#endif
