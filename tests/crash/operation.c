/* SPDX-License-Identifier: MIT */
#include "operation.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "acts.h"
#include "handle.h"

/* ---- before ---- */

static int
nothing(struct actor *actor)
{
	(void)actor;
	return 0;
}

/* Has a record from before, whose last tags may still stand in the counters. */
static int
warm_up(struct actor *actor)
{
	int rc = tsem_try_acquire(actor->sem, actor->count, &actor->hold);
	return rc == 0 ? tsem_release(&actor->hold) : rc;
}

/* The same, also where nothing is available: the record is claimed by a try in vain. */
static int
warm_up_anyway(struct actor *actor)
{
	warm_up(actor);
	return 0;
}

/* Waiting in a loop for a while before it sleeps. */
static int
warm_up_spinning(struct actor *actor)
{
	enum { ROUNDS = 20 };
	warm_up(actor);
	STORE_RLX(&actor->sem->spin, ROUNDS);
	return 0;
}

/* As if it had been made with a maximum, which it does not come near: another road of a post. */
static int
post_below_a_maximum(struct actor *actor)
{
	enum { FAR = 100 };
	actor->sem->max = actor->capacity + FAR;
	actor->sem->fast_post_max = 0;
	return 0;
}

static int
hold_one(struct actor *actor)
{
	return tsem_try_acquire(actor->sem, actor->count, &actor->hold);
}

/* With a record from before, which stays with the thread while it is in use. */
static int
hold_one_again(struct actor *actor)
{
	int rc = warm_up(actor);
	return rc == 0 ? hold_one(actor) : rc;
}

static int
hand_one_over(struct actor *actor)
{
	tsem_hold hold;
	int rc = tsem_try_acquire(actor->sem, actor->count, &hold);
	return rc == 0 ? tsem_hand_over(&hold, actor->other) : rc;
}

/* A caller of tsem_lend() finds the process first. */
static int
lend_to_other(struct actor *actor)
{
	tsem_process process;
	int rc = tsem_find_process(actor->other, &process);
	return rc == 0 ? tsem_lend(&actor->hold, &process) : rc;
}

static int
lend_one(struct actor *actor)
{
	int rc = tsem_try_acquire(actor->sem, actor->count, &actor->hold);
	return rc == 0 ? lend_to_other(actor) : rc;
}

/* ---- the operations ---- */

static int
take(struct actor *actor)
{
	return tsem_take(actor->sem, actor->count, NULL);
}

static int
post(struct actor *actor)
{
	return tsem_post(actor->sem, actor->count, NULL);
}

static int
acquire(struct actor *actor)
{
	return tsem_acquire(actor->sem, actor->count, NULL, &actor->hold);
}

static int
try_acquire(struct actor *actor)
{
	return tsem_try_acquire(actor->sem, actor->count, &actor->hold);
}

static int
release(struct actor *actor)
{
	return tsem_release(&actor->hold);
}

static int
acquire_and_release(struct actor *actor)
{
	int rc = acquire(actor);
	actor->told = rc == 0 && tsem_hold_recovered(&actor->hold); /* and is allowed to die in the release that follows */
	return rc == 0 ? release(actor) : rc;
}

static const struct timespec long_ago = {.tv_sec = 0, .tv_nsec = 1};

static int
take_too_late(struct actor *actor)
{
	return tsem_take(actor->sem, actor->count, &long_ago);
}

static int
acquire_too_late(struct actor *actor)
{
	return tsem_acquire(actor->sem, actor->count, &long_ago, &actor->hold);
}

static int
acquire_shortly(struct actor *actor)
{
	struct timespec soon;
	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_sec += 600; /* see NAPS_JUMP */
	return tsem_acquire(actor->sem, actor->count, &soon, &actor->hold);
}

static int
no_more(void *arg, uint32_t position)
{
	(void)arg;
	(void)position;
	return 1;
}

static int
acquire_cancelled(struct actor *actor)
{
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = no_more};
	return tsem_acquire_wait(actor->sem, actor->count, &wait, &actor->hold);
}

static int
hand_over(struct actor *actor)
{
	return tsem_hand_over(&actor->hold, actor->other);
}

static int
release_for(struct actor *actor)
{
	return tsem_release_for(actor->sem, actor->other);
}

static int
adopt(struct actor *actor)
{
	return tsem_adopt(&actor->hold);
}

static int
reap(struct actor *actor)
{
	return tsem_reap(&actor->hold, 0);
}

static int
recover(struct actor *actor)
{
	return tsem_recover(actor->sem, NULL);
}

/* Uses the very record that the recovery has freed. */
static int
recover_and_acquire(struct actor *actor)
{
	int rc = recover(actor);
	return rc == 0 ? try_acquire(actor) : rc;
}

static int
recover_and_acquire_too_late(struct actor *actor)
{
	int rc = recover(actor);
	return rc == 0 ? acquire_too_late(actor) : rc;
}

static int
create(struct actor *actor)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 5, .max = 7, .mode = 0640};
	return tsem_create(actor->absent, &config, NULL);
}

static int
remove_name(struct actor *actor)
{
	return tsem_remove(actor->name, 0);
}

static int
remove_by_force(struct actor *actor)
{
	return tsem_remove(actor->name, TSEM_FORCE);
}

/* ---- afterwards ---- */

static int
give_back(struct actor *actor)
{
	return actor->result == 0 ? tsem_release(&actor->hold) : 0;
}

static int
put_back(struct actor *actor)
{
	return actor->result == 0 ? tsem_post(actor->sem, actor->count, NULL) : 0;
}

const struct operation operations[] = {
	{"take", 0, 1, false, 0, 0, nothing, take, put_back},
	{"take-late", NEEDS_FULL, 1, false, -ETIMEDOUT, 0, warm_up_anyway, take_too_late, put_back},
	{"post", 0, -1, false, 0, 0, nothing, post, nothing},
	{"post-max", 0, -1, false, 0, 0, post_below_a_maximum, post, nothing},
	{"acquire-first", 0, 0, true, 0, 0, nothing, acquire, give_back},
	{"acquire", 0, 0, true, 0, 0, warm_up_anyway, acquire, give_back},
	{"acquire-spin", NEEDS_FULL, 0, true, 0, 0, warm_up_spinning, acquire, give_back},
	{"acquire-late", NEEDS_FULL, 0, true, -ETIMEDOUT, 0, warm_up_anyway, acquire_too_late, give_back},
	{"acquire-soon", NEEDS_FULL | CLOCK_JUMPS, 0, true, -ETIMEDOUT, 0, warm_up_anyway, acquire_shortly, give_back},
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
	{"set-raise", SETS | LONG_LOOP, 0, false, 0, 0, nothing, act_set_raise, nothing},
	{"set-lower", SETS, 0, false, 0, 0, nothing, act_set_lower, nothing},
	{"set-drain", SETS, 0, false, 0, 0, nothing, act_set_drain, nothing},
	{"cancel", CANCELS | LONG_LOOP, 0, false, 0, 0, nothing, act_cancel, nothing},
	{"wait-idle", WAITS_IDLE | NEEDS_FULL, 0, false, 0, 0, nothing, act_wait_idle, nothing},
	{"wait-holders", WAITS_IDLE | NEEDS_FULL, 0, false, 0, 0, nothing, act_wait_holders, nothing},
	{"all", USES_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, act_acquire_all, act_release_all},
	{"all-late", USES_BESIDE | ONE_PERMIT | NEEDS_FULL, 0, true, -ETIMEDOUT, 0, nothing, act_acquire_all_too_late,
     act_release_all},
	{"any", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, act_acquire_any, act_release_any},
	{"any-beside", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT, 0, true, 0, 0, nothing, act_acquire_any_beside,
     act_release_any},
	{"any-late", USES_BESIDE | DRAINS_BESIDE | ONE_PERMIT | NEEDS_FULL, 0, true, -ETIMEDOUT, 0, nothing,
     act_acquire_any_too_late, act_release_any},
	{"post-take", USES_BESIDE | ONE_PERMIT, 1, false, 0, 0, nothing, act_post_and_take, act_undo_post_and_take},
	{"post-take-same", ONE_PERMIT | POSTS_FIRST, 0, false, 0, 0, nothing, act_post_and_take_same, nothing},
	{"slots", LONG_LOOP, 0, true, 0, 0, hold_one, act_slots, give_back},
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
