/* SPDX-License-Identifier: MIT */
/* The anonymous pair: nobody is recorded as having the permit, and anybody may post. */
#include <errno.h>

#include "protocol.h"
#include "queue.h"
#include "recover.h"

/* QUEUED, or HELD by the hand of somebody who lowered the capacity, -> IDLE: taken, and nobody's from here on. */
static void
forget_owner(struct tsem *sem, const struct claim *claim)
{
	/* A plain store: whatever a helper may have made of the record meanwhile, this follows it. Only `a` was used. */
	const uint64_t what = LOAD_RLX(&claim->record->what);
	const uint32_t gen = LOAD_RLX(&claim->record->gen);
	STORE_REL(&claim->record->what, what_next(what ^ WHAT_A, STATE_IDLE, gen + 1));
	record_keep_or_free(sem, claim);
}

/* Without contention: one look and one CAS. False: the long way. */
static inline bool
take_at_once(struct tsem *sem, uint32_t count)
{
	uint64_t ticket;
	return sem->segment.writable && count != 0 && count <= LOAD_RLX(&sem->segment.header->capacity)
	       && arrive(sem, TAG_NONE, count, ARRIVE_IF_ENABLED, &ticket) == 0;
}

static int
take(struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	struct place_in_line place;
	int rc = queue_enter(sem, count, USE_TAKE, options, &place);
	if (rc == 0)
		forget_owner(sem, &place.claim);
	return rc;
}

int
tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	int rc = queue_check(sem, count, options);
	if (rc < 0 || take_at_once(sem, count))
		return rc;
	return take(sem, count, options);
}

int
tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline)
{
	if (take_at_once(sem, count))
		return 0;
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	int rc = queue_check(sem, count, &options);
	return rc < 0 ? rc : take(sem, count, &options);
}

int
tsem_try_take(tsem *sem, uint32_t count)
{
	if (take_at_once(sem, count))
		return 0;
	int rc = queue_check(sem, count, NULL);
	if (rc < 0)
		return rc;
	uint64_t ticket;
	rc = arrive(sem, TAG_NONE, count, ARRIVE_IF_ENABLED, &ticket);
	if (rc == -EAGAIN && recover_before_failing(sem))
		rc = arrive(sem, TAG_NONE, count, ARRIVE_IF_ENABLED, &ticket);
	return rc;
}

int
tsem_post(tsem *sem, uint32_t count, uint32_t *previous)
{
	if (count == 0)
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	if (LOAD_RLX(&sem->segment.header->removed) != 0)
		return -EIDRM;

	struct grant grant;
	uint32_t before;
	int rc = grant_anonymously(sem, count, &grant, &before);
	if (rc < 0)
		return rc;
	after_grant(sem, &grant);
	if (previous != NULL)
		*previous = before;
	return 0;
}
