/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"

static void
name_beside(pid_t driver, uint32_t capacity, int i, char name[80])
{
	snprintf(name, 80, "sweep.%d.%u.beside%d", (int)driver, capacity, i);
}

/*
 * The lowest UUID there is, and the highest, so that the order in which several are acquired is known. The first is in
 * memory of this program's own, the other has a name.
 */
static int
open_one(struct scene *scene, int i)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	char name[80];
	name_beside(getpid(), scene->capacity, i, name);
	tsem *sem = NULL;
	int rc =
		i == 0 ? tsem_init_at(scene->own_memory, SEGMENT_BYTES_MIN, &config, &sem) : tsem_create(name, &config, &sem);
	if (rc != 0)
		return rc;
	memset(sem->segment.header->uuid, i == 0 ? 0 : 0xff, sizeof(sem->segment.header->uuid));
	tsem_close(sem);
	return i == 0 ? tsem_open_at(scene->own_memory, SEGMENT_BYTES_MIN, &scene->beside[i])
	              : tsem_open(name, 0, &scene->beside[i]);
}

void
beside_open(struct scene *scene)
{
	for (int i = 0; i < BESIDE; i++) {
		int rc = open_one(scene, i);
		if (rc != 0) {
			fprintf(stderr, "cannot create the semaphore beside: %s\n", strerror(-rc));
			abort();
		}
	}
}

void
beside_sweep_up(pid_t driver, uint32_t capacity)
{
	for (int i = 0; i < BESIDE; i++) {
		char name[80];
		name_beside(driver, capacity, i, name);
		tsem_remove(name, TSEM_FORCE);
	}
}

void
beside_close(struct scene *scene)
{
	for (int i = 0; i < BESIDE && scene->beside[i] != NULL; i++) {
		tsem_close(scene->beside[i]);
		scene->beside[i] = NULL;
	}
	beside_sweep_up(getpid(), scene->capacity);
}

void
beside_reset(struct scene *scene)
{
	for (int i = 0; i < BESIDE; i++)
		scene_reset_hints(scene->beside[i]);
}

void
beside_drain(struct cast *cast)
{
	cast->beside_drained = true;
	for (int i = 0; i < BESIDE; i++) {
		if (tsem_try_take(cast->scene->beside[i], 1) != 0)
			cast_fault(cast, "the driver cannot drain what is beside");
	}
}

void
beside_give_back(struct cast *cast)
{
	if (!cast->beside_drained)
		return;
	cast->beside_drained = false;
	for (int i = 0; i < BESIDE; i++) {
		if (tsem_post(cast->scene->beside[i], 1, NULL) != 0)
			cast_fault(cast, "the driver's post beside failed");
	}
}

uint32_t
find_record_left(struct tsem *sem)
{
	const uint32_t limit = LOAD_ACQ(&sem->segment.header->reserved);
	for (uint32_t i = 0; i < limit; i++) {
		const struct record *record = record_at(sem, i);
		if (record != NULL && (LOAD_ACQ(&record->owner) != 0 || state_kind(LOAD_ACQ(&record->state)) != STATE_IDLE))
			return i;
	}
	return NO_RECORD;
}

bool
is_waited_for_idleness(const struct tsem *sem)
{
	return (LOAD_SEQ(&sem->segment.header->pending) & (PENDING_IDLE | PENDING_HOLDERS)) != 0;
}

/* What is available of both, given what the actor has. */
static uint64_t
expected_available(const struct operation *operation, const struct actor *actor)
{
	if (actor->result != 0)
		return BESIDE;
	if (operation->taken > 0) /* has posted */
		return BESIDE + 1;
	return (operation->flags & DRAINS_BESIDE) == 0 ? 0 : BESIDE - (uint64_t)actor->elsewhere;
}

void
beside_check_held(struct cast *cast, unsigned i)
{
	const uint64_t expected = expected_available(cast->operation[i], &cast->scene->shared->actors[i]);
	uint64_t available = 0;
	uint32_t waiting = 0;
	if (cast->beside_drained)
		return;
	for (int at = 0; at < BESIDE; at++) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		if (tsem_stat(cast->scene->beside[at], &stat) != 0)
			cast_fault(cast, "beside %d has gone", at);
		available += stat.available;
		waiting += stat.waiting;
	}
	if (available != expected || waiting != 0)
		cast_fault(cast, "%s: beside it are available %" PRIu64 ", expected %" PRIu64 ", waiting %u",
		           cast->operation[i]->name, available, expected, waiting);
}

/* Posting to the first of them is half of an operation: whoever was killed there may have posted, or not. */
static void
check_one(struct cast *cast, int i, bool posted_to)
{
	struct tsem *sem = cast->scene->beside[i];
	struct tsem_stat stat = {.size = sizeof(stat)};
	int rc = tsem_recover(sem, NULL);
	if (rc == 0)
		rc = tsem_stat(sem, &stat);
	const uint64_t most = posted_to ? 1 + 2 : 1;
	if (rc != 0 || stat.available < 1 || stat.available > most || stat.waiting != 0)
		cast_fault(cast, "beside %d: %s, available %" PRIu64 " of 1, waiting %u", i, strerror(-rc), stat.available,
		           stat.waiting);
	else if (find_record_left(sem) != NO_RECORD)
		cast_fault(cast, "beside %d: record %u is left over", i, find_record_left(sem));
	for (; rc == 0 && stat.available > 1; stat.available--)
		rc = tsem_try_take(sem, 1);
	if (rc != 0)
		cast_fault(cast, "beside %d: what is available cannot be taken", i);
}

void
beside_check(struct cast *cast)
{
	bool posted_to = false;
	for (int i = 0; i < 2; i++)
		posted_to = posted_to || (cast->operation[i] != NULL && cast->killed[i] && cast->operation[i]->taken > 0);
	for (int i = 0; i < BESIDE; i++)
		check_one(cast, i, posted_to && i == 0);
}
