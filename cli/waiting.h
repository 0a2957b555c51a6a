/* SPDX-License-Identifier: MIT */
/*
 * What take, acquire and run share: opening, waiting for permits with messages and signals, and the status of the wait.
 */
#ifndef TSEM_CLI_WAITING_H
#define TSEM_CLI_WAITING_H

#include "options.h"
#include "tsem.h"

/* Opens o->name. With -j, creates it if it does not exist; `created`: this call has created it. */
tsem *open_for_use(const struct options *o, bool *created);

/* Makes -k all the number of permits that the capacity is now. */
void resolve_count(struct options *o, tsem *sem);

/* Opens o->name. */
tsem *open_existing(const struct options *o);

/* Whether -j `permits` means this semaphore: the rule of TSEM_EXIST_OK. */
bool accepts_limit(const struct tsem_stat *stat, uint32_t permits);

/* Says that o->permits is neither the number of permits that o->name was created with nor its capacity. */
_Noreturn void die_of_limit(const struct options *o, uint32_t permits);

/* Says why the semaphore could not be created. */
_Noreturn void die_of_creation(const struct options *o, int error);

/* Says that this user may not give a semaphore to the group of -g. */
_Noreturn void die_of_group(const struct options *o);

/* A request for permits, and its outcome. */
struct request {
	size_t n;
	tsem *const *sems;
	bool any;         /* one of the semaphores is enough */
	tsem_hold *holds; /* one for each semaphore, with `any` only one; NULL: take, without a hold */
	size_t which;     /* with `any`: the semaphore that granted its permit */
};

/* The number of valid holds after the request was granted. */
size_t granted(const struct request *request);

/*
 * Returns 0 or the library's error. If a terminating signal ends the wait, the process dies of it; a background job
 * gets -EINTR.
 */
int wait_for_permits(const struct options *o, struct request *request);

/*
 * The exit status for what wait_for_permits() returned: the permits were granted or not acquired. Dies of any other
 * error.
 */
int status_of_wait(const struct options *o, const struct request *request, int error);

/*
 * Gives back an unused hold. If it came with the notice that an earlier holder died, the next holder gets that notice.
 */
void give_back_unused(tsem_hold *hold);

#endif
