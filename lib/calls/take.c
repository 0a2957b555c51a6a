/* SPDX-License-Identifier: MIT */
/* Taking: permits that are recorded for no process, and that come back by a post only. */
#include <errno.h>

#include "protocol/fast.h"
#include "protocol/protocol.h"
#include "queue/queue.h"
#include "recovery/recover.h"
#include "recovery/removal.h"

/* The permits are taken, and the record has done its work. -ECANCELED: the ticket was skipped. */
static int
forget_owner(struct queue_place *place)
{
	const uint32_t gen = LOAD_RLX(&place->claim.record->gen);
	uint64_t idle;
	/* Only the arrival phase was used. */
	if (!queue_become(place, STATE_ARRIVAL_PHASE, STATE_IDLE, gen + 1, &idle))
		return -ECANCELED;
	record_cache_or_free(place->sem, &place->claim);
	return 0;
}

/* Takes without a record what the queue leaves over: 0, or -EAGAIN. */
static int
take_enabled(struct tsem *sem, uint32_t count)
{
	uint64_t ticket;
	return arrive(sem, TAG_NONE, count, ARRIVE_IF_ENABLED, &ticket);
}

/* The slow paths are not inline, so that the fast path saves no registers for them. */
static __attribute__((noinline)) int
take_slow(struct tsem *sem, uint32_t count, const struct tsem_wait *options)
{
	struct queue_place place = queue_request(sem, count, USE_TAKE, options);
	int rc = queue_check(&place);
	if (rc == 0) {
		wait_backoff(sem);
		rc = take_enabled(sem, count);
	}
	if (rc != -EAGAIN)
		return fail_if_removed(sem, rc);
	rc = queue_enter(&place);
	return rc < 0 ? rc : forget_owner(&place);
}

static __attribute__((noinline)) int
take_until(struct tsem *sem, uint32_t count, const struct timespec *deadline)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return take_slow(sem, count, &options);
}

static __attribute__((noinline)) int
try_take_slow(struct tsem *sem, uint32_t count)
{
	const struct queue_place place = queue_request(sem, count, USE_TAKE, NULL);
	int rc = queue_check(&place);
	if (rc == 0)
		rc = take_enabled(sem, count);
	if (rc == -EAGAIN && recover_before_failing(sem))
		rc = take_enabled(sem, count);
	return fail_if_removed(sem, rc);
}

int
tsem_take_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait)
{
	struct tsem_wait options;
	int rc = queue_options(wait, &options);
	return rc < 0 ? rc : take_slow(sem, count, &options);
}

int
tsem_take(tsem *sem, uint32_t count, const struct timespec *deadline)
{
	return fast_take(sem, count) ? 0 : take_until(sem, count, deadline);
}

int
tsem_try_take(tsem *sem, uint32_t count)
{
	return fast_take(sem, count) ? 0 : try_take_slow(sem, count);
}

/* ---- both at once ---- */

/* The ticket comes first, so that no waiter which the post admits gets in front of the caller. */
int
tsem_post_and_take_wait(tsem *post_to, tsem *take_from, const struct tsem_wait *wait)
{
	struct tsem_wait options;
	int rc = queue_options(wait, &options);
	struct queue_place place = queue_request(take_from, 1, USE_TAKE, &options);
	if (rc == 0)
		rc = queue_check(&place);
	if (rc == 0)
		rc = queue_join(&place);
	if (rc < 0)
		return rc;
	rc = tsem_post(post_to, 1, NULL);
	if (rc < 0) {
		queue_leave(&place);
		return rc;
	}
	rc = queue_wait(&place);
	return rc < 0 ? rc : forget_owner(&place);
}

int
tsem_post_and_take(tsem *post_to, tsem *take_from)
{
	return tsem_post_and_take_wait(post_to, take_from, NULL);
}
