/* SPDX-License-Identifier: MIT */
/* Several semaphores at once: all of them, or the first that grants a permit. */
#include <errno.h>
#include <string.h>

#include "calls/hold.h"
#include "queue/queue.h"
#include "recovery/recover.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"
#include "system/platform.h"

/* No semaphore may be there twice. The UUIDs tell, because several handles may lead to one semaphore. */
static int
check(tsem *const sems[], size_t n, const struct tsem_wait *wait)
{
	if (n == 0 || n > TSEM_SEMAPHORES_MAX || (wait != NULL && (wait->flags & TSEM_CANCELABLE) != 0))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (memcmp(sems[i]->uuid, sems[j]->uuid, sizeof(sems[i]->uuid)) == 0)
				return -EINVAL;
		}
	}
	return 0;
}

/* ---- all ---- */

/* By UUID: all callers use the same order, so they never wait for each other's semaphores in a circle. */
static void
sort(tsem *const sems[], size_t n, size_t order[])
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;
		for (; at > 0 && memcmp(sems[order[at - 1]]->uuid, sems[i]->uuid, sizeof(sems[i]->uuid)) > 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

int
tsem_acquire_all(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold holds[])
{
	size_t order[TSEM_SEMAPHORES_MAX];
	tsem_hold got[TSEM_SEMAPHORES_MAX];
	int rc = check(sems, n, wait);
	if (rc < 0)
		return rc;
	sort(sems, n, order);
	size_t have = 0;
	while (have < n && (rc = tsem_acquire_wait(sems[order[have]], 1, wait, &got[have])) == 0)
		have++;
	if (have == n) {
		for (size_t i = 0; i < n; i++)
			holds[order[i]] = got[i];
		return 0;
	}
	while (have-- > 0)
		hold_return(&got[have]);
	return rc;
}

/* ---- any ---- */

/* Tries each in the caller's order. -EAGAIN: none has a permit left over. -EUSERS: the same, and one lacks a record. */
static int
try_each(tsem *const sems[], size_t n, tsem_hold *hold, size_t *which)
{
	int result = -EAGAIN;
	for (size_t i = 0; i < n; i++) {
		int rc = tsem_try_acquire(sems[i], 1, hold);
		if (rc == 0)
			*which = i;
		if (rc != -EAGAIN && rc != -EUSERS)
			return rc;
		result = rc == -EUSERS ? rc : result;
	}
	return result;
}

/* Leaves all lines except line `but`. */
static void
leave(struct queue_place *lines, size_t n, size_t but)
{
	for (size_t i = 0; i < n; i++) {
		if (i != but)
			queue_leave(&lines[i]);
	}
}

/* Counts a wait in vain for each of the semaphores. */
static void
count_in_vain(struct queue_place *lines, size_t n, uint64_t waited)
{
	for (size_t i = 0; i < n; i++) {
		struct tsem *sem = lines[i].sem;
		wait_count(sem, waited);
		ADD_RLX(&sem->segment.header->statistics.timeouts, 1);
	}
}

static int
end_wait(struct queue_place *place, uint64_t began, uint64_t now, tsem_hold *hold)
{
	wait_count(place->sem, now - began);
	STORE_RLX(&place->waiter.record->since, now); /* held since now */
	skip_orphans(place->sem);                     /* as queue_wait() does */
	return hold_become(place, hold);
}

/* Waits in all lines, and leaves those that do not lead to a hold. */
static int
wait_in_lines(struct queue_place *lines, size_t n, uint64_t began, tsem_hold *hold, size_t *which)
{
	struct sleeper sleepers[TSEM_SEMAPHORES_MAX] = {{.sem = NULL}};
	for (size_t i = 0; i < n; i++) {
		sleepers[i].sem = lines[i].sem;
		sleepers[i].waiter = &lines[i].waiter;
	}
	uint64_t now = began;
	size_t first;
	int rc = wait_sleeping(sleepers, n, &now, &first);
	for (size_t i = 0; i < n && rc == -ETIMEDOUT; i++)
		recover_all(lines[i].sem, NULL);
	if (rc < 0)
		first = rc == -EIDRM ? n : wait_find_enabled(sleepers, n);
	if (first < n && fail_if_removed(lines[first].sem, 0) < 0) {
		first = n;
		rc = -EIDRM;
	}
	now = platform.now();
	if (first < n) {
		rc = end_wait(&lines[first], began, now, hold);
		if (rc == 0)
			*which = first;
	} else {
		count_in_vain(lines, n, now - began);
	}
	leave(lines, n, first);
	return rc;
}

int
tsem_acquire_any(tsem *const sems[], size_t n, const struct tsem_wait *wait, tsem_hold *hold, size_t *which)
{
	struct tsem_wait options;
	int rc = check(sems, n, wait);
	if (rc == 0)
		rc = queue_options(wait, &options);
	if (rc == 0 && options.max_waiting != 0)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	struct tsem_wait silent = options;
	silent.progress = NULL;
	struct queue_place lines[TSEM_SEMAPHORES_MAX];
	for (size_t i = 0; rc == 0 && i < n; i++) {
		/* Only the first line reports progress: the caller is told once, and not for each line. */
		const struct tsem_wait *how = i == 0 ? &options : &silent;
		lines[i] = queue_request(sems[i], 1, USE_HOLD, how);
		rc = queue_check(&lines[i]);
	}
	if (rc == 0)
		rc = try_each(sems, n, hold, which);
	if (rc != -EAGAIN)
		return rc;

	const uint64_t began = platform.now();
	for (size_t i = 0; i < n; i++) {
		rc = queue_join(&lines[i]);
		if (rc < 0) {
			leave(lines, i, i);
			return rc;
		}
		queue_mark_queued(&lines[i]);
	}
	return wait_in_lines(lines, n, began, hold, which);
}
