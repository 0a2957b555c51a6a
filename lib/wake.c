/* SPDX-License-Identifier: MIT */
/* The waiting array as seen by those who wake: whom a grant enabled, all of them, or those who were forgotten. */
#include "platform.h"
#include "protocol.h"
#include "wait.h"

/*
 * Advances the word and wakes the sleepers on `bits`. With nobody else on the word it says so: no more system calls.
 * False: it says already that nobody sleeps there.
 */
static bool
wake_word(_Atomic uint32_t *word, uint32_t bits)
{
	for (;;) {
		const uint32_t seen = LOAD_SEQ(word);
		if ((seen & SLOT_SLEEPERS) == 0)
			return false;
		uint32_t next = seen + SLOT_STEP;
		if (bits == UINT32_MAX)
			next &= ~SLOT_SLEEPERS;
		if (CAS_SEQ32(word, seen, next)) {
			platform.wake(word, bits);
			return true;
		}
	}
}

static _Atomic uint32_t *
word_of(struct tsem *sem, uint64_t ticket)
{
	return &sem->segment.array[slot_index(ticket, sem->salt)];
}

/* `shared`: others may sleep there for a ticket 4,096 away, on other bits of the word. */
static void
wake_on_word(struct tsem *sem, uint64_t ticket, bool shared)
{
	wake_word(word_of(sem, ticket), shared ? slot_bit(ticket) : UINT32_MAX);
}

void
wake_overlooked(struct tsem *sem)
{
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const uint64_t what = LOAD_ACQ(&record->what);
		const unsigned state = what_state(what);
		const uint32_t count = LOAD_ACQ(&record->count);
		const bool enabled = is_enabled(sem, what_value(what), count);
		/* HELD by whoever lowered the capacity, perhaps: that is not told apart from a holder, who does not sleep. */
		if (state != STATE_HELD && (state != STATE_QUEUED || !enabled))
			continue;
		const uint64_t last = counter_add(what_value(what), count - 1);
		_Atomic uint32_t *word = word_of(sem, last);
		/* The word says that nobody is there if somebody died between the two steps of waking it. A holder is enabled. */
		if (!wake_word(word, slot_bit(last)) && (state == STATE_QUEUED || !enabled))
			platform.wake(word, slot_bit(last));
	}
}

void
wake_ticket(struct tsem *sem, uint64_t ticket)
{
	wake_on_word(sem, ticket, false);
}

void
wake_everybody(struct tsem *sem)
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
	const uint64_t issued = word_counter(LOAD_SEQ(&sem->segment.header->tickets));
	const int64_t waiting = counter_diff(issued, grant->from);
	int64_t enabled = counter_diff(grant->to, grant->from);
	if (enabled > waiting)
		enabled = waiting;
	if (waiting <= 0)
		return;
	STORE_RLX(&sem->passed_on, grant->to);
	if (enabled >= ARRAY_WORDS) {
		wake_everybody(sem);
		return;
	}
	/* Beyond 4,096 tickets from here on others share the words, on other bits of them. */
	const bool shared = waiting > ARRAY_WORDS;
	for (int64_t i = 0; i < enabled; i++)
		wake_on_word(sem, counter_add(grant->from, (uint64_t)i), shared);
}
