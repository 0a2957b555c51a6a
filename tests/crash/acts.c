/* SPDX-License-Identifier: MIT */
#include "acts.h"

#include <errno.h>

/* ---- the capacity, and everybody at once ---- */

static uint32_t
higher(uint32_t capacity)
{
	return capacity + 2;
}

static uint32_t
lower(uint32_t capacity)
{
	return capacity > 2 ? 1 : capacity - 1;
}

int
act_set_raise(struct actor *actor)
{
	return tsem_set(actor->sem, higher(actor->capacity));
}

int
act_set_lower(struct actor *actor)
{
	return tsem_set(actor->sem, lower(actor->capacity));
}

int
act_set_drain(struct actor *actor)
{
	return tsem_set(actor->sem, 0);
}

uint32_t
capacity_after(const struct operation *operation, uint32_t capacity)
{
	if (operation->run == act_set_drain)
		return 0;
	return operation->run == act_set_raise ? higher(capacity) : lower(capacity);
}

int
act_cancel(struct actor *actor)
{
	return tsem_cancel(actor->sem);
}

int
act_wait_idle(struct actor *actor)
{
	return tsem_wait_idle(actor->sem, 0, NULL);
}

int
act_wait_holders(struct actor *actor)
{
	return tsem_wait_idle(actor->sem, TSEM_HOLDERS, NULL);
}

/* ---- several semaphores ---- */

static const struct timespec long_ago = {.tv_sec = 0, .tv_nsec = 1};
static const struct tsem_wait too_late = {.size = sizeof(too_late), .deadline = &long_ago};

/* By UUID it is the second of the three. */
static int
acquire_all(struct actor *actor, const struct tsem_wait *wait)
{
	tsem *const sems[] = {actor->beside[1], actor->sem, actor->beside[0]};
	tsem_hold holds[3];
	int rc = tsem_acquire_all(sems, 3, wait, holds);
	if (rc < 0)
		return rc;
	actor->hold = holds[1];
	actor->others[0] = holds[2];
	actor->others[1] = holds[0];
	return 0;
}

int
act_acquire_all(struct actor *actor)
{
	return acquire_all(actor, NULL);
}

int
act_acquire_all_too_late(struct actor *actor)
{
	return acquire_all(actor, &too_late);
}

int
act_release_all(struct actor *actor)
{
	if (actor->result != 0)
		return 0;
	int rc = tsem_release(&actor->hold);
	for (int i = 0; i < BESIDE && rc == 0; i++)
		rc = tsem_release(&actor->others[i]);
	return rc;
}

/* Where all of them have one, the first is it. */
static int
acquire_any(struct actor *actor, tsem *first, tsem *second, const struct tsem_wait *wait)
{
	tsem *const sems[] = {first, second, actor->beside[0]};
	size_t which = 0;
	int rc = tsem_acquire_any(sems, 3, wait, &actor->hold, &which);
	actor->elsewhere = rc == 0 && sems[which] != actor->sem;
	return rc;
}

int
act_acquire_any(struct actor *actor)
{
	return acquire_any(actor, actor->sem, actor->beside[1], NULL);
}

int
act_acquire_any_beside(struct actor *actor)
{
	return acquire_any(actor, actor->beside[1], actor->sem, NULL);
}

int
act_acquire_any_too_late(struct actor *actor)
{
	return acquire_any(actor, actor->sem, actor->beside[1], &too_late);
}

int
act_release_any(struct actor *actor)
{
	return actor->result == 0 ? tsem_release(&actor->hold) : 0;
}

int
act_post_and_take(struct actor *actor)
{
	return tsem_post_and_take(actor->beside[0], actor->sem);
}

int
act_undo_post_and_take(struct actor *actor)
{
	return actor->result == 0 ? tsem_post_and_take(actor->sem, actor->beside[0]) : 0;
}

int
act_post_and_take_same(struct actor *actor)
{
	return tsem_post_and_take(actor->sem, actor->sem);
}

/* ---- slots ---- */

int
act_slots(struct actor *actor)
{
	actor->slot_count = (uint32_t)tsem_hold_slots(&actor->hold, actor->slots, SLOTS_SEEN_MAX);
	return actor->slot_count == actor->count ? 0 : -ERANGE;
}
