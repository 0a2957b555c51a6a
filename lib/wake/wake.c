/* SPDX-License-Identifier: MIT */
#include "wake/wake.h"

#include <limits.h>

#include "system/platform.h"

/*
 * Advances the word's sequence number and wakes the sleepers on `bits`. If all were woken, clears the two sleeper bits,
 * so that the next call needs no system call. Clear the bits only after waking: a waker that dies earlier must leave
 * them set. Clear them only if the word has not changed: another waiter may have announced itself.
 *
 * If at most one waiter sleeps there, the kernel is told to look for no other. The kernel keeps the sleepers of many
 * words in one hash bucket. With 4,000 sleepers on two processors, walking it to the end takes a twentieth of a
 * hand-over.
 */
static void
wake_word(_Atomic uint32_t *word, uint32_t bits)
{
	const bool all = bits == UINT32_MAX;
	uint32_t seen, woken;
	do {
		seen = LOAD_SEQ(word);
		if ((seen & WORD_SLEEPER_BITS) == 0)
			return;
		woken = word_next_sequence(seen);
		if (all && (seen & WORD_SEVERAL) != 0)
			woken &= ~WORD_SLEEPERS; /* the next waiter has to set it, which the comparison below notices */
	} while (!CAS_SEQ32(word, seen, woken));

	const bool one = all && (seen & WORD_SEVERAL) == 0;
	platform.wake(word, bits, one ? 1 : INT_MAX);
	if (!all || CAS_SEQ32(word, woken, woken & ~WORD_SLEEPER_BITS))
		return;
	/* The kernel may have woken the waiter that announced itself in between instead. */
	if (one)
		platform.wake(word, bits, INT_MAX);
}

/* `shared`: a waiter whose ticket is 4,096 away may sleep on the same word, on another bit. */
static void
wake_on_word(struct tsem *sem, uint64_t ticket, bool shared)
{
	wake_word(ticket_word(sem, ticket), shared ? word_bit(ticket) : UINT32_MAX);
}

void
wake_waiter(struct tsem *sem, uint64_t ticket, uint32_t count)
{
	const uint64_t last = last_ticket(ticket, count);
	const uint64_t issued = counter_value(LOAD_SEQ(&sem->segment.header->tickets));
	wake_on_word(sem, last, counter_diff(issued, last) > ARRAY_WORDS);
}

void
wake_overlooked(struct tsem *sem)
{
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const uint32_t count = LOAD_ACQ(&record->count);
		const uint64_t ticket = state_value(state);
		/* HELD: a setter may have admitted a sleeping waiter. A holder looks the same, and does not sleep. */
		if (state_kind(state) == STATE_HELD || state_is_cancelled(state)
		    || (state_kind(state) == STATE_QUEUED && is_enabled(sem, ticket, count)))
			wake_waiter(sem, ticket, count);
	}
}

void
wake_all(struct tsem *sem)
{
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		wake_word(&sem->segment.array[i], UINT32_MAX);
}

void
wake_enabled(struct tsem *sem, const struct grant *grant)
{
	if (!grant->moved)
		return;
	/* After the move of G: the other half of an arrival's "move T, then read E". */
	const uint64_t issued = counter_value(LOAD_SEQ(&sem->segment.header->tickets));
	const int64_t waiting = counter_diff(issued, grant->from);
	int64_t enabled = counter_diff(grant->to, grant->from);
	if (enabled > waiting)
		enabled = waiting;
	if (waiting <= 0)
		return;
	STORE_RLX(&sem->last_handoff, grant->to);
	if (enabled >= ARRAY_WORDS) {
		wake_all(sem);
		return;
	}
	/* Beyond 4,096 tickets, waiters share the words, on different bits of them. */
	const bool shared = waiting > ARRAY_WORDS;
	for (int64_t i = 0; i < enabled; i++)
		wake_on_word(sem, counter_add(grant->from, (uint64_t)i), shared);
}
