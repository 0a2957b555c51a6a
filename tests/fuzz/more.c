/* SPDX-License-Identifier: MIT */
#include "more.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "protocol/handle.h"
#include "target.h"

void
more_set(struct session *session, uint32_t count)
{
	checked("tsem_set", tsem_set(session->sem, count));
}

void
more_cancel(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_cancel", tsem_cancel(session->sem));
}

void
more_wait_idle(struct session *session, uint32_t count)
{
	const struct timespec deadline = target_deadline();
	const unsigned flags = (count & 1) != 0 ? TSEM_HOLDERS : TSEM_INTERRUPTIBLE;
	checked("tsem_wait_idle", tsem_wait_idle(session->sem, flags, &deadline));
}

/* ---- several semaphores, one of them intact ---- */

struct neighbour {
	_Alignas(64) unsigned char memory[RECORDS_OFFSET + 2 * sizeof(struct record)];
	tsem *sem;
};

static void
open_neighbour(struct neighbour *neighbour, uint32_t permits)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = permits};
	int rc = tsem_init_at(neighbour->memory, sizeof(neighbour->memory), &config, &neighbour->sem);
	if (rc != 0)
		broken("tsem_init_at", rc);
}

static struct tsem_wait
wait_shortly(const struct timespec *deadline)
{
	return (struct tsem_wait){.size = sizeof(struct tsem_wait), .deadline = deadline};
}

void
more_acquire_all(struct session *session, uint32_t count)
{
	static struct neighbour neighbour;
	const struct timespec deadline = target_deadline();
	const struct tsem_wait wait = wait_shortly(&deadline);
	open_neighbour(&neighbour, count & 1);
	tsem *const sems[] = {session->sem, neighbour.sem};
	tsem_hold holds[2];
	if (checked("tsem_acquire_all", tsem_acquire_all(sems, 2, &wait, holds)) == 0) {
		*another_hold(session) = holds[0];
		if (tsem_release(&holds[1]) != 0)
			broken("the hold of the good one", 0);
	}
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (tsem_stat(neighbour.sem, &stat) != 0 || stat.available != (count & 1) || stat.waiting != 0)
		broken("the permits of the good semaphore", (int64_t)stat.available);
	tsem_close(neighbour.sem);
}

void
more_acquire_any(struct session *session, uint32_t count)
{
	static struct neighbour neighbour;
	const struct timespec deadline = target_deadline();
	const struct tsem_wait wait = wait_shortly(&deadline);
	open_neighbour(&neighbour, count & 1);
	tsem *const sems[] = {session->sem, neighbour.sem};
	tsem_hold hold;
	size_t which = 2;
	if (checked("tsem_acquire_any", tsem_acquire_any(sems, 2, &wait, &hold, &which)) == 0) {
		if (which > 1 || (which == 1 && tsem_release(&hold) != 0))
			broken("which", (int64_t)which);
		if (which == 0)
			*another_hold(session) = hold;
	}
	tsem_close(neighbour.sem);
}

void
more_post_and_take(struct session *session, uint32_t count)
{
	static struct neighbour neighbour;
	const struct timespec deadline = target_deadline();
	const struct tsem_wait wait = wait_shortly(&deadline);
	open_neighbour(&neighbour, 1);
	tsem *const post_to = (count & 1) != 0 ? session->sem : neighbour.sem;
	tsem *const take_from = (count & 2) != 0 ? neighbour.sem : session->sem;
	checked("tsem_post_and_take", tsem_post_and_take_wait(post_to, take_from, &wait));
	tsem_close(neighbour.sem);
}

/* ---- holds ---- */

void
more_slots(struct session *session, uint32_t count)
{
	uint32_t slots[8];
	const tsem_hold *hold = latest_hold(session);
	const size_t n = tsem_hold_slots(hold, slots, count % 9);
	for (size_t i = 0; i < n && i < count % 9; i++) {
		if (slots[i] >= TSEM_SLOTS_MAX || (i > 0 && slots[i] <= slots[i - 1]))
			broken("a slot", slots[i]);
	}
	const uint32_t slot = tsem_hold_slot(hold);
	if (slot >= TSEM_SLOTS_MAX && slot != TSEM_NO_SLOT)
		broken("the slot", slot);
	tsem_hold_recovered(hold);
}

void
more_reap_abandoned(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_reap", tsem_reap(latest_hold(session), TSEM_ABANDONED));
}

static int
look_at_slots(const struct tsem_owner *owner, void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < owner->slot_count; i++) {
		if (owner->slots[i] >= TSEM_SLOTS_MAX || (i > 0 && owner->slots[i] <= owner->slots[i - 1]))
			broken("a slot of an owner", owner->slots[i]);
	}
	return 0;
}

void
more_snapshot(struct session *session, uint32_t count)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	(void)count;
	checked("tsem_snapshot", tsem_snapshot(session->sem, &stat, look_at_slots, NULL));
}

void
more_take_wait(struct session *session, uint32_t count)
{
	const struct timespec deadline = target_deadline();
	const struct tsem_wait wait = wait_shortly(&deadline);
	checked("tsem_take_wait", tsem_take_wait(session->sem, count, &wait));
}

/* ---- memory of the program ---- */

static void (*const in_memory[])(struct session *session, uint32_t count) = {
	more_take_wait, more_set,       more_acquire_all, more_acquire_any, more_post_and_take, more_slots,
	more_snapshot,  more_wait_idle, more_set,         more_cancel,      more_acquire_any,   more_reap_abandoned,
};

static void
do_everything(tsem *sem, uint32_t count)
{
	struct session session = {.sem = sem};
	for (size_t i = 0; i < sizeof(in_memory) / sizeof(in_memory[0]); i++) {
		target_new_operation();
		in_memory[i](&session, count + (uint32_t)i);
	}
	for (size_t i = 0; i < HOLDS_MAX; i++)
		checked("tsem_release", tsem_release(&session.holds[i]));
	target_new_operation();
	uint32_t recovered;
	checked("tsem_recover", tsem_recover(sem, &recovered));
}

static void
open_and_do_everything(void *memory, size_t size, uint32_t count)
{
	tsem *sem;
	if (checked("tsem_open_at", tsem_open_at(memory, size, &sem)) != 0)
		return;
	do_everything(sem, count);
	tsem_close(sem);
}

/*
 * A copy on the heap, so that a sanitizer finds accesses beyond its end; or the memory itself, so that the peer still
 * writes to it.
 */
void
more_embedded(struct session *session, uint32_t count)
{
	const struct segment *segment = &session->sem->segment;
	const size_t size = RECORDS_OFFSET + (count >> 1) % 65 * sizeof(struct record);
	if (!segment->writable) /* the handle maps nothing */
		return;
	if ((count & 1) != 0) {
		if (!segment->embedded)
			open_and_do_everything(segment->header, size, count);
		return;
	}
	void *memory = aligned_alloc(64, size);
	if (memory == NULL)
		broken("no memory", ENOMEM);
	memcpy(memory, segment->header, size);
	open_and_do_everything(memory, size, count);
	free(memory);
}

void
more_init_embedded(struct session *session, uint32_t count)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = count};
	const size_t size = count % 8 == 7 ? count % 4096 : tsem_size_at(count % 8) + count % 64 / 8;
	unsigned char *memory = aligned_alloc(64, (size + 127) / 64 * 64);
	tsem *sem;
	(void)session;
	if (memory == NULL)
		broken("no memory", ENOMEM);
	if (checked("tsem_init_at", tsem_init_at(memory + (count >> 8 & 1), size, &config, &sem)) == 0) {
		do_everything(sem, count);
		tsem_close(sem);
	}
	free(memory);
}
