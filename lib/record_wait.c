/* SPDX-License-Identifier: MIT */
#include "record_wait.h"

#include <errno.h>
#include <limits.h>

#include "platform.h"
#include "recover.h"

/* As long as one that was woken takes to run, on a machine that has a processor to spare. */
#define WAY_GIVEN NS_PER_MS

/*
 * While the word says that a waiter sleeps, a thread that falls asleep has nothing to write. So the word stops saying it
 * only in another step of the number, and after that all are woken who have relied on what it said before.
 */
void
record_wake(struct header *header, uint32_t n)
{
	_Atomic uint32_t *word = &header->record_waiters;
	if (!record_is_wanted(header))
		return;
	const uint32_t stepped = ADD_SEQ(word, WORD_STEP) + WORD_STEP;
	if (platform.wake(word, UINT32_MAX, (int)n) > 0)
		return;
	if (CAS_SEQ32(word, stepped, (stepped + WORD_STEP) & ~WORD_SLEEPERS))
		platform.wake(word, UINT32_MAX, INT_MAX);
}

void
record_wake_all(struct header *header)
{
	if (!record_is_wanted(header))
		return;
	ADD_SEQ(&header->record_waiters, WORD_STEP);
	AND_SEQ(&header->record_waiters, ~WORD_SLEEPERS);
	platform.wake(&header->record_waiters, UINT32_MAX, INT_MAX);
}

void
recover_free_records(struct tsem *sem)
{
	if (!record_is_wanted(sem->segment.header))
		return;
	recover_spare_records(sem);
	uint32_t n = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++)
		n += LOAD_RLX(&record->owner) == 0 && state_kind(LOAD_RLX(&record->state)) == STATE_IDLE;
	if (n > 0)
		record_wake(sem->segment.header, n);
}

static bool
is_interrupted(int rc, const struct waiter *waiter)
{
	return rc == -EINTR && (waiter->options->flags & TSEM_INTERRUPTIBLE) != 0;
}

int
record_wait_yield(const struct tsem *sem, const struct waiter *waiter)
{
	_Atomic uint32_t *word = &sem->segment.header->record_waiters;
	const uint32_t seen = LOAD_SEQ(word);
	const uint64_t now = platform.now();
	if (now >= waiter->until || (seen & WORD_SLEEPERS) == 0)
		return 0;
	const int rc = platform.sleep(word, seen, UINT32_MAX, earlier_of(now + WAY_GIVEN, waiter->until));
	return is_interrupted(rc, waiter) ? rc : 0;
}

/*
 * At a tick: whether another process has just looked, for all, and this waiter may sleep on without a search. It may where
 * the word still says that a waiter sleeps: each record that was freed since has woken one.
 */
static bool
is_looked_after(struct tsem *sem, const struct waiter *waiter, struct pace *pace, uint32_t *seen)
{
	const uint64_t scanned = LOAD_ACQ(&sem->segment.header->scanned);
	*seen = LOAD_SEQ(&sem->segment.header->record_waiters);
	if (scanned - pace->tick >= LOOK_EVERY || (*seen & WORD_SLEEPERS) == 0 || wait_end(sem, waiter) < 0)
		return false;
	pace->tick = next_tick(scanned);
	return true;
}

/* As platform.sleep(), or -ECANCELED. */
static int
sleep_through_ticks(struct tsem *sem, const struct waiter *waiter, uint32_t seen, struct pace *pace)
{
	for (;;) {
		const uint64_t wake_at = earlier_of(waiter->until, earlier_of(pace->tick, pace->progress));
		const int rc = platform.sleep(&sem->segment.header->record_waiters, seen, UINT32_MAX, wake_at);
		if (rc != -ETIMEDOUT || wake_at != pace->tick || !is_looked_after(sem, waiter, pace, &seen))
			return rc;
		if (waiter->options->every_ms == 0 && wait_report_progress(sem, waiter))
			return -ECANCELED;
	}
}

int
record_wait(struct tsem *sem, const struct waiter *waiter, struct pace *pace)
{
	struct header *header = sem->segment.header;
	for (;;) {
		const uint32_t before = OR_SEQ(&header->record_waiters, WORD_SLEEPERS);
		/* Where no other waiter slept, a record freed just before has woken none: only a search tells. */
		if ((before & WORD_SLEEPERS) == 0)
			return 0;
		const uint64_t now = platform.now();
		int rc = wait_check(sem, waiter, now, pace);
		if (rc < 0)
			return rc;
		if (now >= waiter->until)
			return -ETIMEDOUT;
		rc = sleep_through_ticks(sem, waiter, before, pace);
		if (rc == -ECANCELED || is_interrupted(rc, waiter))
			return rc;
		if (rc != 0 && rc != -EAGAIN)
			continue;
		/* The record that it was woken for, if it was for one, is for the next waiter then. */
		rc = wait_end(sem, waiter);
		if (rc < 0)
			record_wake(header, 1);
		return rc;
	}
}
