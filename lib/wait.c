/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <errno.h>

#include "census.h"
#include "platform.h"
#include "record.h"
#include "recover.h"

bool
wait_is_over(const struct tsem *sem, const struct waiter *waiter)
{
	return is_enabled(sem, waiter->ticket, waiter->count) || what_state(LOAD_SEQ(&waiter->record->what)) == STATE_HELD;
}

void
mark_removed(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	STORE_SEQ(&header->removed, 1);
	/* Without capacity every arrival takes the long way, where it sees the flag. */
	STORE_SEQ(&header->capacity, 0);
	wake_everybody(sem);
	record_wake_for_vacancy(header);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, UINT32_MAX);
}

bool
is_marked_removed(const struct tsem *sem)
{
	struct header *header = sem->segment.header;
	if (LOAD_SEQ(&header->removed) == 0)
		return false;
	/* Who marked it may have died before the next step; who set a capacity in that moment, too. */
	if (LOAD_RLX(&header->capacity) != 0)
		STORE_SEQ(&header->capacity, 0);
	return true;
}

bool
is_removed(struct tsem *sem)
{
	if (is_marked_removed(sem))
		return true;
	if (!segment_is_unlinked(&sem->segment))
		return false;
	mark_removed(sem);
	return true;
}

/* ROUNDS_WORTH_IT: with fewer left, spinning has not been paying off. ROUNDS_OF_COURTESY: a microsecond or two. */
enum { ROUNDS_WORTH_IT = 16, ROUNDS_OF_COURTESY = 64 };

/*
 * Without this, two processes that do little else pass the permit, and with it the counter line, to and fro at every
 * step; with it each works for a while out of its own cache. Nobody is overtaken: who has just been served stays away
 * from the line for a moment, and only if nobody else gave a permit back since.
 */
void
wait_out_of_courtesy(const struct tsem *sem)
{
	const uint64_t limit = enabled_limit(sem);
	if (LOAD_RLX(&sem->spin) < ROUNDS_WORTH_IT || LOAD_RLX(&sem->passed_on) != limit
	    || counter_diff(limit, word_counter(LOAD_RLX(&sem->segment.header->tickets))) > 0)
		return;
	for (int i = 0; i < ROUNDS_OF_COURTESY; i++)
		platform.pause();
}

/*
 * Spins while it pays off: a spin that ends in success raises the number of rounds worth trying, one in vain lowers
 * it, and once it has fallen to nothing only every 64th wait tries again (after glibc's adaptive mutex and Preshing).
 */
bool
wait_spinning(struct tsem *sem, const struct waiter *waiter)
{
	const uint32_t ceiling = spin_ceiling();
	uint32_t rounds = LOAD_RLX(&sem->spin);
	if (ceiling == 0 || counter_diff(waiter->ticket, enabled_limit(sem)) >= 2)
		return false;
	if (rounds < ROUNDS_WORTH_IT) {
		if ((ADD_RLX(&sem->spin_skipped, 1) & 63) != 0)
			return false;
		rounds = ceiling / 2;
	}

	for (uint32_t i = 0; i < rounds; i++) {
		platform.pause();
		if (wait_is_over(sem, waiter)) {
			STORE_RLX(&sem->spin, rounds + (ceiling - rounds) / 8);
			return true;
		}
	}
	STORE_RLX(&sem->spin, rounds - rounds / 4);
	return false;
}

/* Calls the waiter's progress function; true: it wants to give up. */
static bool
report_progress(struct tsem *sem, const struct waiter *waiter)
{
	const struct tsem_wait *options = waiter->options;
	if (options->progress == NULL)
		return false;
	/* The place costs a look at every record: a thousand silent waiters must not take one at every tick. */
	const uint32_t position = options->every_ms == 0 ? 0 : census_position(sem, waiter->ticket);
	return options->progress(options->arg, position) != 0;
}

struct pace
wait_pace(const struct tsem_wait *options)
{
	struct pace pace = {.tick = 0, .progress = NS_FOREVER};
	if (options->progress != NULL && options->every_ms != 0)
		pace.progress = platform.now() + options->every_ms * NS_PER_MS;
	return pace;
}

int
wait_look_around(struct tsem *sem, const struct waiter *waiter, uint64_t now, struct pace *pace)
{
	const bool first = pace->tick == 0;
	const bool ticked = now >= pace->tick;
	if (ticked)
		pace->tick = recover_if_due(sem, now);
	if (is_marked_removed(sem))
		return -EIDRM;
	if (LOAD_SEQ(&sem->segment.header->cancels) != waiter->cancels)
		return -ECANCELED;
	const uint32_t every_ms = waiter->options->every_ms;
	const bool due = every_ms == 0 ? ticked && !first : now >= pace->progress;
	if (due && every_ms != 0)
		pace->progress = now + every_ms * NS_PER_MS;
	return due && report_progress(sem, waiter) ? -ECANCELED : 0;
}

static uint64_t
last_ticket(const struct waiter *waiter)
{
	return counter_add(waiter->ticket, waiter->count - 1);
}

uint32_t
wait_announce(struct tsem *sem, const struct waiter *waiter, _Atomic uint32_t **word)
{
	*word = &sem->segment.array[slot_index(last_ticket(waiter), sem->salt)];
	return OR_SEQ(*word, SLOT_SLEEPERS) | SLOT_SLEEPERS;
}

static int
sleep_until_enabled(struct tsem *sem, const struct waiter *waiter, uint64_t *now)
{
	_Atomic uint32_t *word;
	const struct tsem_wait *options = waiter->options;
	struct pace pace = wait_pace(options);

	while (!wait_is_over(sem, waiter)) {
		const uint32_t seen = wait_announce(sem, waiter, &word);
		int rc = wait_look_around(sem, waiter, *now, &pace);
		if (rc < 0)
			return rc;
		if (wait_is_over(sem, waiter))
			break;
		if (*now >= waiter->until)
			return -ETIMEDOUT;

		const uint64_t wake_at = earlier_of(waiter->until, earlier_of(pace.tick, pace.progress));
		rc = platform.sleep(word, seen, slot_bit(last_ticket(waiter)), wake_at);
		*now = platform.now();
		if (rc == -EINTR && (options->flags & TSEM_INTERRUPTIBLE) != 0)
			return wait_is_over(sem, waiter) ? 0 : -EINTR;
	}
	return 0;
}

void
wait_count(struct tsem *sem, uint64_t ns)
{
	struct statistics *statistics = &sem->segment.header->statistics;
	unsigned bin = 0;
	ADD_RLX(&statistics->contended, 1);
	for (uint64_t us = ns / 1000; us != 0 && bin < HISTOGRAM_BINS - 1; us >>= 1)
		bin++;
	ADD_RLX(&statistics->histogram[bin], 1);
	ADD_RLX(&statistics->wait_total, ns);
	const uint64_t longest = LOAD_RLX(&statistics->wait_longest);
	if (ns > longest)
		CAS_SEQ(&statistics->wait_longest, longest, ns);
}

int
wait_sleeping(struct tsem *sem, const struct waiter *waiter, uint64_t *now)
{
	const uint64_t began = *now = platform.now();
	int rc = sleep_until_enabled(sem, waiter, now);
	wait_count(sem, *now - began);
	return rc;
}

/* Advances the word and wakes the sleepers on `bits`. With nobody else on the word it says so: no more system calls. */
static void
wake_word(_Atomic uint32_t *word, uint32_t bits)
{
	for (;;) {
		const uint32_t seen = LOAD_SEQ(word);
		if ((seen & SLOT_SLEEPERS) == 0)
			return;
		uint32_t next = seen + SLOT_STEP;
		if (bits == UINT32_MAX)
			next &= ~SLOT_SLEEPERS;
		if (CAS_SEQ32(word, seen, next)) {
			platform.wake(word, bits);
			return;
		}
	}
}

void
wake_ticket(struct tsem *sem, uint64_t ticket)
{
	wake_word(&sem->segment.array[slot_index(ticket, sem->salt)], UINT32_MAX);
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
	for (int64_t i = 0; i < enabled; i++) {
		const uint64_t ticket = counter_add(grant->from, (uint64_t)i);
		wake_word(&sem->segment.array[slot_index(ticket, sem->salt)], shared ? slot_bit(ticket) : UINT32_MAX);
	}
}
