/* SPDX-License-Identifier: MIT */
/* The calls on an open semaphore. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "named.h"
#include "next.h"

/* ---- take ---- */

static int
try_named(struct named *named)
{
	if (named->holds == NULL)
		return tsem_try_take(named->handle, 1);
	struct place *place = holds_place(named->holds);
	if (place == NULL)
		return -ENOMEM;
	const int rc = tsem_try_acquire(named->handle, 1, holds_of_place(place));
	if (rc == 0)
		holds_push(named->holds, place);
	else
		holds_free_place(named->holds, place);
	return rc;
}

static __attribute__((noinline)) int
wait_named(struct named *named, const struct timespec *deadline, unsigned flags)
{
	const struct tsem_wait wait = {
		.size = sizeof(wait),
		.deadline = deadline,
		.flags = TSEM_INTERRUPTIBLE | TSEM_RESTART | TSEM_CANCELABLE | flags,
	};
	if (named->holds == NULL)
		return tsem_take_wait(named->handle, 1, &wait);
	tsem_hold hold; /* not at a place: that would be lost if the thread is cancelled */
	const int rc = tsem_acquire_wait(named->handle, 1, &wait, &hold);
	if (rc < 0)
		return rc;
	struct place *place = holds_place(named->holds);
	if (place == NULL) {
		tsem_release(&hold);
		return -ENOMEM;
	}
	*holds_of_place(place) = hold;
	holds_push(named->holds, place);
	return 0;
}

/* `flags`: TSEM_REALTIME. The deadline is not looked at if there is a permit. */
static int
take_named(struct named *named, const struct timespec *deadline, unsigned flags)
{
	pthread_testcancel();
	int rc = try_named(named);
	if (rc == -EAGAIN)
		rc = wait_named(named, deadline, flags);
	return rc == 0 ? 0 : named_fail(rc);
}

int
sem_wait(sem_t *sem)
{
	struct named *named;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_NAMED)
		return take_named(named, NULL, 0);
	return kind == KIND_CLOSED ? named_fail(-EINVAL) : next()->wait(sem);
}

int
sem_trywait(sem_t *sem)
{
	struct named *named;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_OF_LIBC)
		return next()->trywait(sem);
	const int rc = kind == KIND_NAMED ? try_named(named) : -EINVAL;
	return rc == 0 ? 0 : named_fail(rc);
}

int
sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
	struct named *named;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_NAMED)
		return take_named(named, deadline, TSEM_REALTIME);
	return kind == KIND_CLOSED ? named_fail(-EINVAL) : next()->timedwait(sem, deadline);
}

int
sem_clockwait(sem_t *restrict sem, clockid_t clock, const struct timespec *restrict deadline)
{
	struct named *named;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_OF_LIBC)
		return next()->clockwait != NULL ? next()->clockwait(sem, clock, deadline) : named_fail(-ENOSYS);
	if (kind == KIND_CLOSED || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return named_fail(-EINVAL);
	return take_named(named, deadline, clock == CLOCK_REALTIME ? TSEM_REALTIME : 0);
}

/* ---- post, value ---- */

static int
post_named(struct named *named)
{
	struct place *place = named->holds == NULL ? NULL : holds_pop(named->holds);
	if (place == NULL)
		return tsem_post(named->handle, 1, NULL);
	const int rc = tsem_release(holds_of_place(place));
	holds_free_place(named->holds, place);
	return rc;
}

int
sem_post(sem_t *sem)
{
	struct named *named;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_OF_LIBC)
		return next()->post(sem);
	const int rc = kind == KIND_NAMED ? post_named(named) : -EINVAL;
	return rc == 0 ? 0 : named_fail(rc);
}

/* A waiter that has died, and a hold of a dead process, count until a process looks. */
static void
look_for_dead(struct named *named)
{
	enum { EVERY_MS = 10 };
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	const uint64_t now = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
	if (now - atomic_load_explicit(&named->last_look, memory_order_relaxed) < EVERY_MS)
		return;
	atomic_store_explicit(&named->last_look, now, memory_order_relaxed);
	tsem_recover(named->handle, NULL);
}

static int
available_of(struct named *named, uint64_t *available)
{
	look_for_dead(named);
	return tsem_available(named->handle, available);
}

int
sem_getvalue(sem_t *restrict sem, int *restrict value)
{
	struct named *named;
	uint64_t available;
	const enum kind kind = named_kind(sem, &named);
	if (kind == KIND_OF_LIBC)
		return next()->getvalue(sem, value);
	const int rc = kind == KIND_NAMED ? available_of(named, &available) : -EINVAL;
	if (rc < 0)
		return named_fail(rc);
	*value = available < SEM_VALUE_MAX ? (int)available : SEM_VALUE_MAX;
	return 0;
}
