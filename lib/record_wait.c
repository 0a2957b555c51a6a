/* SPDX-License-Identifier: MIT */
#include "record_wait.h"

#include <errno.h>

#include "platform.h"
#include "record_wake.h"

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
		int rc = wait_check(sem, waiter, now, false, timers);
		if (rc < 0)
			return rc;
		if (now >= waiter->until)
			return -ETIMEDOUT;
		rc = platform.sleep(&header->record_waiters, before, UINT32_MAX, wait_until(waiter, timers, NS_FOREVER));
		if (wait_is_interrupted(rc, waiter->options->flags))
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
