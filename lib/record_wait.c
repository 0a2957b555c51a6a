/* SPDX-License-Identifier: MIT */
#include "record_wait.h"

#include <errno.h>

#include "platform.h"
#include "record_wake.h"
#include "recover.h"

/* As long as a woken thread takes to run, on a machine that has a processor to spare. */
#define YIELD NS_PER_MS

int
record_wait_yield(const struct tsem *sem, const struct waiter *waiter)
{
	_Atomic uint32_t *word = &sem->segment.header->record_waiters;
	const uint32_t seen = LOAD_SEQ(word);
	const uint64_t now = platform.now();
	if (now >= waiter->until || (seen & WORD_SLEEPERS) == 0)
		return 0;
	const int rc = platform.sleep(word, seen, UINT32_MAX, earlier_of(now + YIELD, waiter->until));
	return wait_is_interrupted(rc, waiter->options->flags) ? rc : 0;
}

/*
 * At a tick: if another process has just looked for all, and the word still says that a waiter sleeps, moves the timer
 * to the next tick and returns true. The waiter need not search then: each record that was freed since has woken a
 * waiter.
 */
static bool
postpone_tick(struct tsem *sem, const struct waiter *waiter, struct timers *timers, uint32_t *seen)
{
	const uint64_t scanned = LOAD_ACQ(&sem->segment.header->scanned);
	*seen = LOAD_SEQ(&sem->segment.header->record_waiters);
	if (scanned - timers->tick >= LOOK_EVERY || (*seen & WORD_SLEEPERS) == 0 || wait_has_ended(sem, waiter) < 0)
		return false;
	timers->tick = next_tick(scanned);
	return true;
}

/* As platform.sleep(), or -ECANCELED. */
static int
sleep_through_ticks(struct tsem *sem, const struct waiter *waiter, uint32_t seen, struct timers *timers)
{
	for (;;) {
		const uint64_t wake_at = earlier_of(waiter->until, earlier_of(timers->tick, timers->progress));
		const int rc = platform.sleep(&sem->segment.header->record_waiters, seen, UINT32_MAX, wake_at);
		if (rc != -ETIMEDOUT || wake_at != timers->tick || !postpone_tick(sem, waiter, timers, &seen))
			return rc;
		if (waiter->options->every_ms == 0 && wait_report_progress(sem, waiter))
			return -ECANCELED;
	}
}

int
record_wait(struct tsem *sem, const struct waiter *waiter, struct timers *timers)
{
	struct header *header = sem->segment.header;
	for (;;) {
		const uint32_t before = OR_SEQ(&header->record_waiters, WORD_SLEEPERS);
		/* If no other waiter slept, a record freed just before has woken none: only a search tells. */
		if ((before & WORD_SLEEPERS) == 0)
			return 0;
		const uint64_t now = platform.now();
		int rc = wait_check(sem, waiter, now, timers);
		if (rc < 0)
			return rc;
		if (now >= waiter->until)
			return -ETIMEDOUT;
		rc = sleep_through_ticks(sem, waiter, before, timers);
		if (rc == -ECANCELED || wait_is_interrupted(rc, waiter->options->flags))
			return rc;
		if (rc != 0 && rc != -EAGAIN)
			continue;
		/* If the wait has ended, the record that this waiter was woken for goes to the next one. */
		rc = wait_has_ended(sem, waiter);
		if (rc < 0)
			record_wake(header, 1);
		return rc;
	}
}
