/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/handle.h"
#include "rest.h"

static void
name_beside(pid_t driver, uint32_t capacity, int i, char name[80])
{
	snprintf(name, 80, "sweep.%d.%u.beside%d", (int)driver, capacity, i);
}

/*
 * Gives the semaphores the lowest and the highest UUID, so that the order in which tsem_acquire_all() acquires is
 * known. The first is in memory of this program, the other has a name.
 */
static int
open_one(struct fixture *fixture, int i)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	char name[80];
	name_beside(getpid(), fixture->capacity, i, name);
	tsem *sem = NULL;
	int rc =
		i == 0 ? tsem_init_at(fixture->own_memory, SEGMENT_BYTES_MIN, &config, &sem) : tsem_create(name, &config, &sem);
	if (rc != 0)
		return rc;
	memset(sem->segment.header->uuid, i == 0 ? 0 : 0xff, sizeof(sem->segment.header->uuid));
	tsem_close(sem);
	return i == 0 ? tsem_open_at(fixture->own_memory, SEGMENT_BYTES_MIN, &fixture->beside[i])
	              : tsem_open(name, 0, &fixture->beside[i]);
}

void
beside_open(struct fixture *fixture)
{
	for (int i = 0; i < BESIDE; i++) {
		int rc = open_one(fixture, i);
		if (rc != 0) {
			fprintf(stderr, "cannot create the semaphore beside: %s\n", strerror(-rc));
			abort();
		}
	}
}

void
beside_clean_up_after(pid_t driver, uint32_t capacity)
{
	for (int i = 0; i < BESIDE; i++) {
		char name[80];
		name_beside(driver, capacity, i, name);
		tsem_remove(name, TSEM_FORCE);
	}
}

void
beside_close(struct fixture *fixture)
{
	for (int i = 0; i < BESIDE && fixture->beside[i] != NULL; i++) {
		tsem_close(fixture->beside[i]);
		fixture->beside[i] = NULL;
	}
	beside_clean_up_after(getpid(), fixture->capacity);
}

void
beside_reset(struct fixture *fixture)
{
	for (int i = 0; i < BESIDE; i++)
		fixture_reset_hints(fixture->beside[i]);
}

void
beside_drain(struct run *run)
{
	run->beside_drained = true;
	for (int i = 0; i < BESIDE; i++) {
		if (tsem_try_take(run->fixture->beside[i], 1) != 0)
			run_fault(run, "the driver cannot take the permits of the semaphores beside");
	}
}

void
beside_give_back(struct run *run)
{
	if (!run->beside_drained)
		return;
	run->beside_drained = false;
	for (int i = 0; i < BESIDE; i++) {
		if (tsem_post(run->fixture->beside[i], 1, NULL) != 0)
			run_fault(run, "the driver's post to a semaphore beside failed");
	}
}

/* What is available of both together, given what the executor has. */
static uint64_t
expected_available(const struct operation *operation, const struct executor *executor)
{
	if (executor->result != 0)
		return BESIDE;
	if (operation->taken > 0) /* the executor has posted */
		return BESIDE + 1;
	return (operation->flags & DRAINS_BESIDE) == 0 ? 0 : BESIDE - (uint64_t)executor->elsewhere;
}

void
beside_check_held(struct run *run, unsigned i)
{
	const uint64_t expected = expected_available(run->operation[i], &run->fixture->shared->executors[i]);
	uint64_t available = 0;
	uint32_t waiting = 0;
	if (run->beside_drained)
		return;
	for (int at = 0; at < BESIDE; at++) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		if (tsem_stat(run->fixture->beside[at], &stat) != 0)
			run_fault(run, "the semaphore beside %d is gone", at);
		available += stat.available;
		waiting += stat.waiting;
	}
	if (available != expected || waiting != 0)
		run_fault(run, "%s: beside it are available %" PRIu64 ", expected %" PRIu64 ", waiting %u",
		          run->operation[i]->name, available, expected, waiting);
}

/* A post to the first of them is half of an operation: an executor that was killed there may have posted, or not. */
static void
check_one(struct run *run, int i, bool posted_to)
{
	struct tsem *sem = run->fixture->beside[i];
	struct tsem_stat stat = {.size = sizeof(stat)};
	int rc = tsem_recover(sem, NULL);
	if (rc == 0)
		rc = tsem_stat(sem, &stat);
	const uint64_t most = posted_to ? 1 + 2 : 1;
	char text[REST_TEXT];
	if (rc != 0)
		run_fault(run, "beside %d: recover: %s", i, strerror(-rc));
	else if (!is_at_rest(&stat, 1, most, text) || !are_records_at_rest(sem, text))
		run_fault(run, "beside %d: %s", i, text);
	for (; rc == 0 && stat.available > 1; stat.available--)
		rc = tsem_try_take(sem, 1);
	if (rc != 0)
		run_fault(run, "beside %d: what is available cannot be taken", i);
}

void
beside_check(struct run *run)
{
	bool posted_to = false;
	for (int i = 0; i < 2; i++)
		posted_to = posted_to || (run->operation[i] != NULL && run->killed[i] && run->operation[i]->taken > 0);
	for (int i = 0; i < BESIDE; i++)
		check_one(run, i, posted_to && i == 0);
}
