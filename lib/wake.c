/* SPDX-License-Identifier: MIT */
/* The waiting array as seen by those who wake: whom a grant enabled, all of them, or those who were forgotten. */
#include "wait.h"

#include <limits.h>

#include "platform.h"
#include "protocol.h"

/*
 * Advances the word and wakes the sleepers on `bits`. Once all are woken it says that nobody sleeps there: no more system
 * calls. Not before, for whoever dies on the way leaves behind what it says; and not if somebody has come meanwhile.
 *
 * Where at most one sleeps the kernel is told to look for no other. It has the sleepers of many words in one hash
 * bucket, and with 4,000 of them on two processors to walk that to its end takes a twentieth of a hand-over.
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
			woken &= ~WORD_SLEEPERS; /* whoever comes now has to write it, and is noticed below */
	} while (!CAS_SEQ32(word, seen, woken));

	const bool one = all && (seen & WORD_SEVERAL) == 0;
	platform.wake(word, bits, one ? 1 : INT_MAX);
	if (!all || CAS_SEQ32(word, woken, woken & ~WORD_SLEEPER_BITS))
		return;
	/* The kernel may have woken the one that has come since. */
	if (one)
		platform.wake(word, bits, INT_MAX);
}

/* `shared`: others may sleep there for a ticket 4,096 away, on other bits of the word. */
static void
wake_on_word(struct tsem *sem, uint64_t ticket, bool shared)
{
	wake_word(ticket_word(sem, ticket), shared ? word_bit(ticket) : UINT32_MAX);
}

void
wake_overlooked(struct tsem *sem)
{
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const unsigned kind = state_kind(state);
		const uint32_t count = LOAD_ACQ(&record->count);
		/* HELD by whoever lowered the capacity, perhaps: that is not told apart from a holder, who does not sleep. */
		if (kind != STATE_HELD && (kind != STATE_QUEUED || !is_enabled(sem, state_value(state), count)))
			continue;
		const uint64_t last = counter_add(state_value(state), count - 1);
		const uint64_t issued = counter_value(LOAD_SEQ(&sem->segment.header->tickets));
		wake_on_word(sem, last, counter_diff(issued, last) > ARRAY_WORDS);
	}
}

void
wake_ticket(struct tsem *sem, uint64_t ticket)
{
	wake_on_word(sem, ticket, false);
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
	/* Behind the move of G: the other half of the arrival's "move T, then read E". */
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
	/* Beyond 4,096 tickets from here on others share the words, on other bits of them. */
	const bool shared = waiting > ARRAY_WORDS;
	for (int64_t i = 0; i < enabled; i++)
		wake_on_word(sem, counter_add(grant->from, (uint64_t)i), shared);
}
