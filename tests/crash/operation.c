/* SPDX-License-Identifier: MIT */
#include "operation.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "operation_other.h"
#include "protocol/handle.h"

/* ---- preparation ---- */

static int
nothing(struct executor *executor)
{
	(void)executor;
	return 0;
}

/* Leaves a cached record, whose last tags may still be in the counters. */
static int
warm_up(struct executor *executor)
{
	int rc = tsem_try_acquire(executor->sem, executor->count, &executor->hold);
	return rc == 0 ? tsem_release(&executor->hold) : rc;
}

/* The same where nothing is available: a failed try claims the record. */
static int
warm_up_anyway(struct executor *executor)
{
	warm_up(executor);
	return 0;
}

/* The waiter spins for a while before it sleeps. */
static int
warm_up_spinning(struct executor *executor)
{
	enum { ROUNDS = 20 };
	warm_up(executor);
	STORE_RLX(&executor->sem->spin, ROUNDS);
	return 0;
}

/* Sets a maximum that the post does not come near: such a post takes another path. */
static int
post_below_a_maximum(struct executor *executor)
{
	enum { FAR = 100 };
	executor->sem->max = executor->capacity + FAR;
	executor->sem->fast_post_max = 0;
	return 0;
}

/* Only this handle is bounded, so it refuses posts beyond what was taken, whatever process took it. */
static void
bound_posts(struct executor *executor)
{
	executor->sem->bounded = true;
	executor->sem->fast_post_max = 0;
}

static int
take_to_post_back(struct executor *executor)
{
	bound_posts(executor);
	return tsem_try_take(executor->sem, executor->count);
}

static int
hold_one(struct executor *executor)
{
	return tsem_try_acquire(executor->sem, executor->count, &executor->hold);
}

/* Holds with a cached record. */
static int
hold_one_again(struct executor *executor)
{
	int rc = warm_up(executor);
	return rc == 0 ? hold_one(executor) : rc;
}

static int
hold_one_at_the_limit(struct executor *executor)
{
	bound_posts(executor);
	return hold_one_again(executor);
}

static int
hand_one_over(struct executor *executor)
{
	tsem_hold hold;
	int rc = tsem_try_acquire(executor->sem, executor->count, &hold);
	return rc == 0 ? tsem_hand_over(&hold, executor->other) : rc;
}

/* tsem_lend() needs the process that tsem_find_process() finds. */
static int
lend_to_other(struct executor *executor)
{
	tsem_process process;
	int rc = tsem_find_process(executor->other, &process);
	return rc == 0 ? tsem_lend(&executor->hold, &process) : rc;
}

static int
lend_one(struct executor *executor)
{
	int rc = tsem_try_acquire(executor->sem, executor->count, &executor->hold);
	return rc == 0 ? lend_to_other(executor) : rc;
}

/* ---- the operations ---- */

static int
take(struct executor *executor)
{
	return tsem_take(executor->sem, executor->count, NULL);
}

static int
post(struct executor *executor)
{
	return tsem_post(executor->sem, executor->count, NULL);
}

/* Gives back what was taken before. */
static int
set_exact(struct executor *executor)
{
	return tsem_set_exact(executor->sem, NULL);
}

static int
post_too_many(struct executor *executor)
{
	const int rc = post(executor);
	return rc == -EOVERFLOW ? 0 : rc == 0 ? -EBADE : rc;
}

static int
acquire(struct executor *executor)
{
	return tsem_acquire(executor->sem, executor->count, NULL, &executor->hold);
}

static int
try_acquire(struct executor *executor)
{
	return tsem_try_acquire(executor->sem, executor->count, &executor->hold);
}

static int
release(struct executor *executor)
{
	return tsem_release(&executor->hold);
}

static int
acquire_and_release(struct executor *executor)
{
	int rc = acquire(executor);
	executor->notified =
		rc == 0 && tsem_hold_recovered(&executor->hold); /* the executor may die in the release that follows */
	return rc == 0 ? release(executor) : rc;
}

static const struct timespec long_ago = {.tv_sec = 0, .tv_nsec = 1};

static int
take_too_late(struct executor *executor)
{
	return tsem_take(executor->sem, executor->count, &long_ago);
}

static int
acquire_too_late(struct executor *executor)
{
	return tsem_acquire(executor->sem, executor->count, &long_ago, &executor->hold);
}

static int
acquire_unless_full(struct executor *executor)
{
	const struct tsem_wait wait = {.size = sizeof(wait), .deadline = &long_ago, .max_waiting = 1};
	return tsem_acquire_wait(executor->sem, executor->count, &wait, &executor->hold);
}

static int
acquire_with_timeout(struct executor *executor)
{
	struct timespec soon;
	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_sec += 600; /* see SLEEP_CLOCK_JUMP */
	return tsem_acquire(executor->sem, executor->count, &soon, &executor->hold);
}

static int
cancel_wait(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	return 1;
}

static int
acquire_cancelled(struct executor *executor)
{
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = cancel_wait};
	return tsem_acquire_wait(executor->sem, executor->count, &wait, &executor->hold);
}

static int
hand_over(struct executor *executor)
{
	return tsem_hand_over(&executor->hold, executor->other);
}

static int
release_for(struct executor *executor)
{
	return tsem_release_for(executor->sem, executor->other);
}

static int
adopt(struct executor *executor)
{
	return tsem_adopt(&executor->hold);
}

static int
reap(struct executor *executor)
{
	return tsem_reap(&executor->hold, 0);
}

static int
recover(struct executor *executor)
{
	return tsem_recover(executor->sem, NULL);
}

/* Acquires with the record that the recovery has freed. */
static int
recover_and_acquire(struct executor *executor)
{
	int rc = recover(executor);
	return rc == 0 ? try_acquire(executor) : rc;
}

static int
recover_and_acquire_too_late(struct executor *executor)
{
	int rc = recover(executor);
	return rc == 0 ? acquire_too_late(executor) : rc;
}

static int
create(struct executor *executor)
{
	const struct tsem_config config = {
		.size = sizeof(config), .permits = 5, .max = 7, .mode = 0640, .flags = TSEM_INITIAL, .available = 6};
	return tsem_create(executor->absent, &config, NULL);
}

static int
remove_name(struct executor *executor)
{
	return tsem_remove(executor->name, 0);
}

static int
unlink_name(struct executor *executor)
{
	return tsem_unlink(executor->name, 0);
}

static int
remove_by_force(struct executor *executor)
{
	return tsem_remove(executor->name, TSEM_FORCE);
}

/* ---- after the operation ---- */

static int
give_back(struct executor *executor)
{
	return executor->result == 0 ? tsem_release(&executor->hold) : 0;
}

static int
put_back(struct executor *executor)
{
	return executor->result == 0 ? tsem_post(executor->sem, executor->count, NULL) : 0;
}

const struct operation operations[] = {
	{"take", 0, 1, false, 0, 0, nothing, take, put_back},
	{"take-late", NEEDS_FULL, 1, false, -ETIMEDOUT, 0, warm_up_anyway, take_too_late, put_back},
	{"post", 0, -1, false, 0, 0, nothing, post, nothing},
	{"post-max", 0, -1, false, 0, 0, post_below_a_maximum, post, nothing},
	{"post-bounded", TAKES_FIRST, 0, false, 0, 0, take_to_post_back, post, nothing},
	{"set-exact", TAKES_FIRST, 0, false, 0, 0, take_to_post_back, set_exact, nothing},
	{"post-refused", 0, 0, true, 0, 0, hold_one_at_the_limit, post_too_many, give_back},
	{"acquire-first", 0, 0, true, 0, 0, nothing, acquire, give_back},
	{"acquire", 0, 0, true, 0, 0, warm_up_anyway, acquire, give_back},
	{"acquire-spin", NEEDS_FULL, 0, true, 0, 0, warm_up_spinning, acquire, give_back},
	{"acquire-late", NEEDS_FULL, 0, true, -ETIMEDOUT, 0, warm_up_anyway, acquire_too_late, give_back},
	{"acquire-few", NEEDS_FULL, 0, true, -ETIMEDOUT, -EAGAIN, warm_up_anyway, acquire_unless_full, give_back},
	{"acquire-soon", NEEDS_FULL | CLOCK_JUMPS, 0, true, -ETIMEDOUT, 0, warm_up_anyway, acquire_with_timeout, give_back},
	{"acquire-cancel", NEEDS_FULL | CLOCK_JUMPS, 0, true, -ECANCELED, 0, warm_up_anyway, acquire_cancelled, give_back},
	{"try", 0, 0, true, 0, -EAGAIN, warm_up_anyway, try_acquire, give_back},
	{"release-first", 0, 0, false, 0, 0, hold_one, release, nothing},
	{"release", 0, 0, false, 0, 0, hold_one_again, release, nothing},
	{"cycle", 0, 0, false, 0, 0, warm_up_anyway, acquire_and_release, nothing},
	{"hand-over", NEEDS_OTHER, 0, false, 0, 0, hold_one, hand_over, nothing},
	{"release-for", NEEDS_OTHER, 0, false, 0, -ENOENT, hand_one_over, release_for, nothing},
	{"release-same", NEEDS_OTHER | SECOND_ONLY, 0, false, -ENOENT, 0, nothing, release_for, nothing},
	{"lend", NEEDS_OTHER, 0, false, 0, 0, hold_one, lend_to_other, nothing},
	{"end-loan", NEEDS_OTHER, 0, false, 0, 0, lend_one, release, nothing},
	{"adopt", IS_CHILD, 0, true, 0, 0, hold_one, adopt, nothing},
	{"adopt-orphan", IS_CHILD | PARENT_DEAD, 0, true, 0, -EPERM, hold_one, adopt, nothing},
	{"reap", IS_PARENT, 0, false, 0, 0, hold_one, reap, nothing},
	{"recover", NEEDS_DEAD, 0, false, 0, 0, recover, recover, nothing},
	{"recover-acquire", SECOND_ONLY, 0, true, 0, -EAGAIN, nothing, recover_and_acquire, give_back},
	{"recover-late", SECOND_ONLY | NEEDS_FULL, 0, true, -ETIMEDOUT, 0, nothing, recover_and_acquire_too_late,
     give_back},
	{"create", CREATES, 0, false, 0, -EEXIST, nothing, create, nothing},
	{"remove", REMOVES | NEEDS_EMPTY, 0, false, 0, -EBUSY, nothing, remove_name, nothing},
	{"remove-force", REMOVES | NEEDS_EMPTY, 0, false, 0, -EBUSY, nothing, remove_by_force, nothing},
	{"unlink", UNLINKS, 0, false, 0, 0, nothing, unlink_name, nothing},
	{"set-raise", SETS | LONG_LOOP, 0, false, 0, 0, nothing, do_set_raise, nothing},
	{"set-lower", SETS, 0, false, 0, 0, nothing, do_set_lower, nothing},
	{"set-drain", SETS, 0, false, 0, 0, nothing, do_set_drain, nothing},
	{"cancel", CANCELS | LONG_LOOP, 0, false, 0, 0, nothing, do_cancel, nothing},
	{"declare", 0, 0, false, 0, 0, hold_one_again, do_declare, nothing},
	{"wait-idle", WAITS_IDLE | NEEDS_FULL, 0, false, 0, 0, nothing, do_wait_idle, nothing},
	{"wait-holders", WAITS_IDLE | NEEDS_FULL, 0, false, 0, 0, nothing, do_wait_holders, nothing},
	{"all", USES_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, do_acquire_all, do_release_all},
	{"all-late", USES_BESIDE | ONE_PERMIT | NEEDS_FULL, 0, true, -ETIMEDOUT, 0, nothing, do_acquire_all_too_late,
     do_release_all},
	{"any", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, do_acquire_any, do_release_any},
	{"any-beside", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, do_acquire_any_beside,
     do_release_any},
	{"any-late", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT | NEEDS_FULL, 0, true, -ETIMEDOUT, 0, nothing,
     do_acquire_any_too_late, do_release_any},
	{"post-take", USES_BESIDE | ONE_PERMIT, 1, false, 0, 0, nothing, do_post_and_take, do_undo_post_and_take},
	{"post-take-same", ONE_PERMIT | POSTS_FIRST, 0, false, 0, 0, nothing, do_post_and_take_same, nothing},
	{"slots", LONG_LOOP, 0, true, 0, 0, hold_one, do_slots, give_back},
};

const unsigned operation_count = sizeof(operations) / sizeof(operations[0]);

const struct operation *
operation_by_name(const char *name)
{
	for (unsigned i = 0; i < operation_count; i++) {
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	}
	return NULL;
}
