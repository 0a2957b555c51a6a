/* SPDX-License-Identifier: MIT */
/* Several semaphores at once: all of them, or the first that grants a permit. */
#include <errno.h>
#include <string.h>

#include "calls/hold.h"
#include "system/platform.h"
#include "protocol/protocol.h"
#include "queue/queue.h"
#include "recovery/recover.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"

/* No semaphore may be there twice. The UUIDs tell, because several handles may lead to one semaphore. */
static int
check(tsem *const sems[], size_t n)
{
	if (n == 0 || n > TSEM_SEMAPHORES_MAX)
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
	int rc = check(sems, n);
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

/* A place in one of the queues. */
struct place_in_line {
	struct queue_place place;
	struct timers timers;
};

/* Tries each in the caller's order. -EAGAIN: none has a permit left over. -EUSERS: nor has one of them a free record. */
static int
try_each(tsem *const sems[], size_t n, tsem_hold *hold, size_t *which)
{
	int result = -EAGAIN;
	for (size_t i = 0; i < n; i++) {
		int rc = hold_try_unchecked(sems[i], 1, hold);
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
leave(struct place_in_line *lines, size_t n, size_t but)
{
	for (size_t i = 0; i < n; i++) {
		if (i != but)
			queue_leave(&lines[i].place);
	}
}

static size_t
find_enabled(const struct place_in_line *lines, size_t n)
{
	size_t i = 0;
	while (i < n && !wait_is_over(lines[i].place.sem, &lines[i].place.waiter))
		i++;
	return i;
}

/* wait_check() for every line. `*wake_at`: not later than the next timer. */
static int
check_all(struct place_in_line *lines, size_t n, uint64_t now, bool woken, uint64_t *wake_at)
{
	for (size_t i = 0; i < n; i++) {
		const struct waiter *waiter = &lines[i].place.waiter;
		int rc = wait_check(lines[i].place.sem, waiter, now, woken, &lines[i].timers);
		if (rc < 0)
			return rc;
		*wake_at = wait_until(waiter, &lines[i].timers, *wake_at);
	}
	return 0;
}

/*
 * 0: line `*first` was found enabled. The caller relies on this finding: if a setter lowers the capacity afterwards,
 * another look would say no.
 */
static int
sleep_until_any(struct place_in_line *lines, size_t n, const struct tsem_wait *options, size_t *first)
{
	const uint64_t until = queue_deadline(options->deadline);
	_Atomic uint32_t *words[TSEM_SEMAPHORES_MAX];
	uint32_t seen[TSEM_SEMAPHORES_MAX] = {0};
	struct posted posted[TSEM_SEMAPHORES_MAX] = {{.word = 0}};
	bool woken = false;
	for (size_t i = 0; i < n; i++)
		words[i] = wait_word(lines[i].place.sem, &lines[i].place.waiter);
	while ((*first = find_enabled(lines, n)) == n) {
		const uint64_t now = platform.now();
		uint64_t wake_at = until;
		for (size_t i = 0; i < n; i++) {
			seen[i] = wait_announce(words[i], seen[i]);
			watch_grants(lines[i].place.sem);
			wake_at = earlier_of(wake_at, wait_posted(&lines[i].place.waiter, seen[i], now, &posted[i]));
		}
		int rc = check_all(lines, n, now, woken, &wake_at);
		if (rc < 0)
			return rc;
		if ((*first = find_enabled(lines, n)) < n)
			break;
		if (now >= until)
			return -ETIMEDOUT;
		rc = platform.sleep_any(words, seen, n, wake_at);
		woken = rc == 0;
		if (wait_is_interrupted(rc, options->flags))
			return (*first = find_enabled(lines, n)) < n ? 0 : -EINTR;
	}
	return 0;
}

/* Counts a wait in vain for each of the semaphores. */
static void
count_in_vain(struct place_in_line *lines, size_t n, uint64_t waited)
{
	for (size_t i = 0; i < n; i++) {
		struct tsem *sem = lines[i].place.sem;
		wait_count(sem, waited);
		ADD_RLX(&sem->segment.header->statistics.timeouts, 1);
	}
}

static int
become_hold(struct queue_place *place, uint64_t began, uint64_t now, tsem_hold *hold)
{
	wait_count(place->sem, now - began);
	STORE_RLX(&place->waiter.record->since, now); /* held since now */
	skip_orphans(place->sem);                     /* as queue_wait() does */
	return hold_become(place, hold);
}

/* Waits in all lines, and leaves those that do not lead to a hold. */
static int
wait_in_lines(struct place_in_line *lines, size_t n, const struct tsem_wait *options, tsem_hold *hold, size_t *which)
{
	const uint64_t began = platform.now();
	size_t first;
	int rc = sleep_until_any(lines, n, options, &first);
	for (size_t i = 0; i < n && rc == -ETIMEDOUT; i++)
		recover_all(lines[i].place.sem, NULL);
	if (rc < 0)
		first = rc == -EIDRM ? n : find_enabled(lines, n);
	if (first < n && fail_if_removed(lines[first].place.sem, 0) < 0) {
		first = n;
		rc = -EIDRM;
	}
	const uint64_t now = platform.now();
	if (first < n) {
		rc = become_hold(&lines[first].place, began, now, hold);
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
	int rc = check(sems, n);
	if (rc == 0)
		rc = queue_options(wait, &options);
	if (rc < 0)
		return rc;
	struct tsem_wait silent = options;
	silent.progress = NULL;
	struct place_in_line lines[TSEM_SEMAPHORES_MAX];
	for (size_t i = 0; rc == 0 && i < n; i++) {
		/* Only the first line reports progress: the caller is told once, and not for each line. */
		const struct tsem_wait *how = i == 0 ? &options : &silent;
		lines[i].place = queue_request(sems[i], 1, USE_HOLD, how);
		rc = queue_check(&lines[i].place);
	}
	if (rc == 0)
		rc = try_each(sems, n, hold, which);
	if (rc != -EAGAIN)
		return rc;

	const uint64_t now = platform.now();
	for (size_t i = 0; i < n; i++) {
		lines[i].timers = wait_timers(lines[i].place.waiter.options, now);
		rc = queue_join(&lines[i].place);
		if (rc < 0) {
			leave(lines, i, i);
			return rc;
		}
		queue_mark_queued(&lines[i].place);
	}
	return wait_in_lines(lines, n, &options, hold, which);
}
