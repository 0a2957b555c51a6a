/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <errno.h>
#include <limits.h>

#include "cancellation.h"
#include "census.h"
#include "platform.h"
#include "recover.h"
#include "record_wait.h"

bool
wait_is_over(const struct tsem *sem, const struct waiter *waiter)
{
	return is_enabled(sem, waiter->ticket, waiter->count) || state_kind(LOAD_SEQ(&waiter->record->state)) == STATE_HELD;
}

void
removal_mark(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	STORE_SEQ(&header->removed, 1);
	/* Without capacity every arrival takes the long way, where it sees the flag. */
	STORE_SEQ(&header->capacity, 0);
	wake_all(sem);
	record_wake_all(header);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, UINT32_MAX, INT_MAX);
}

bool
removal_notice_mark(const struct tsem *sem)
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
removal_notice(struct tsem *sem)
{
	if (removal_notice_mark(sem))
		return true;
	if (!segment_is_unlinked(&sem->segment))
		return false;
	removal_mark(sem);
	return true;
}

/* Who marks it does so before such permits move, and their taker has read G or T behind that move. */
int
fail_if_removed(struct tsem *sem, int rc)
{
	const bool removed = rc == -EAGAIN ? removal_notice(sem) : rc == 0 && removal_notice_mark(sem);
	return removed ? -EIDRM : rc;
}

/* ROUNDS_WORTH_IT: with fewer left, spinning has not been paying off. ROUNDS_OF_BACKOFF: a microsecond or two. */
enum { ROUNDS_WORTH_IT = 16, ROUNDS_OF_BACKOFF = 64 };

/*
 * Without this, two processes that do little else pass the permit, and with it the counter line, to and fro at every
 * step; with it each works for a while out of its own cache. Nobody is overtaken: who has just been served stays away
 * from the line for a moment, and only if nobody else gave a permit back since. Where others wait behind the one that was let
 * in, the permit goes to them next, and to stay away only keeps the processor from that one.
 */
void
wait_backoff(const struct tsem *sem)
{
	const uint64_t limit = enabled_limit(sem);
	if (LOAD_RLX(&sem->spin) < ROUNDS_WORTH_IT || LOAD_RLX(&sem->last_handoff) != limit
	    || counter_value(LOAD_RLX(&sem->segment.header->tickets)) != limit)
		return;
	for (int i = 0; i < ROUNDS_OF_BACKOFF; i++)
		platform.pause();
}

/*
 * Spins while it pays off: a spin that ends in success raises the number of rounds worth trying, one in vain lowers
 * it, and once it has fallen to nothing only every 64th wait tries again, once (after glibc's adaptive mutex and Preshing).
 */
bool
wait_spinning(struct tsem *sem, const struct waiter *waiter)
{
	const uint32_t ceiling = wait_spin_ceiling();
	uint32_t rounds = LOAD_RLX(&sem->spin);
	if (ceiling == 0 || counter_diff(waiter->ticket, enabled_limit(sem)) >= 2)
		return false;
	const bool trial = rounds < ROUNDS_WORTH_IT;
	if (trial) {
		if ((ADD_RLX(&sem->spin_skipped, 1) & 63) != 0)
			return false;
		rounds = ceiling / 4;
	}

	for (uint32_t i = 0; i < rounds; i++) {
		platform.pause();
		if (wait_is_over(sem, waiter)) {
			STORE_RLX(&sem->spin, rounds + (ceiling - rounds) / 8);
			return true;
		}
	}
	STORE_RLX(&sem->spin, trial ? 0 : rounds - rounds / 4);
	return false;
}

bool
wait_report_progress(struct tsem *sem, const struct waiter *waiter)
{
	const struct tsem_wait *options = waiter->options;
	if (options->progress == NULL)
		return false;
	/* The place costs a look at every record: a thousand silent waiters must not take one at every tick. */
	NO_CANCELLATION;
	const bool is_told = options->every_ms != 0 && waiter->record != NULL;
	const uint32_t position = !is_told ? 0 : census_position(sem, waiter->ticket);
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

/*
 * When the waiter has to wake up if the next tick is at `tick`. Divided by the count, the tickets of neighbours who wait
 * for as many permits each are even and odd in turns.
 */
static uint64_t
own_tick(const struct tsem *sem, const struct waiter *waiter, uint64_t tick)
{
	if (waiter->record == NULL) /* nor a place */
		return tick;
	const uint64_t issued = counter_value(LOAD_RLX(&sem->segment.header->tickets));
	const int64_t ahead = counter_diff(waiter->ticket, enabled_limit(sem));
	const int64_t behind = counter_diff(issued, waiter->ticket) - (int64_t)waiter->count;
	if (ahead < TICKETS_NEAR || behind < TICKETS_NEAR || tick % TICK != 0)
		return tick;
	const uint64_t turn = waiter->ticket / waiter->count;
	return (tick / TICK - turn) % 2 == 0 ? tick : tick + TICK;
}

int
wait_end(const struct tsem *sem, const struct waiter *waiter)
{
	if (removal_notice_mark(sem))
		return -EIDRM;
	return LOAD_SEQ(&sem->segment.header->cancels) != waiter->cancels ? -ECANCELED : 0;
}

int
wait_check(struct tsem *sem, const struct waiter *waiter, uint64_t now, struct pace *pace)
{
	const bool first = pace->tick == 0;
	const bool ticked = now >= pace->tick;
	if (ticked)
		pace->tick = own_tick(sem, waiter, recover_if_due(sem, now));
	const int rc = wait_end(sem, waiter);
	/* Not woken for it: whoever called it off may have died before it had woken everybody. */
	if (rc < 0 && ticked && !first)
		wake_all(sem);
	if (rc < 0)
		return rc;
	const uint32_t every_ms = waiter->options->every_ms;
	const bool due = every_ms == 0 ? ticked && !first : now >= pace->progress;
	if (due && every_ms != 0)
		pace->progress = now + every_ms * NS_PER_MS;
	return due && wait_report_progress(sem, waiter) ? -ECANCELED : 0;
}

static uint64_t
last_ticket(const struct waiter *waiter)
{
	return counter_add(waiter->ticket, waiter->count - 1);
}

_Atomic uint32_t *
wait_word(struct tsem *sem, const struct waiter *waiter)
{
	return ticket_word(sem, last_ticket(waiter));
}

uint32_t
wait_announce(_Atomic uint32_t *word, uint32_t announced)
{
	uint32_t seen, next;
	do {
		seen = LOAD_SEQ(word);
		const bool said = (seen & WORD_SLEEPERS) != 0;
		if (said && seen == announced) /* by this waiter, and unchanged since */
			return seen;
		next = seen | (said ? WORD_SEVERAL : WORD_SLEEPERS);
	} while (!CAS_SEQ32(word, seen, next));
	return next;
}

uint64_t
wait_posted(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted)
{
	if (posted->word != announced)
		*posted = (struct posted){.word = announced, .pause = POSTED_PAUSE};
	if (!word_is_posted(announced, last_ticket(waiter)) || posted->pause >= TICK)
		return NS_FOREVER;
	const uint64_t soon = now + posted->pause;
	posted->pause *= 2;
	return soon;
}

void
wait_retract(_Atomic uint32_t *word, const struct waiter *waiter, uint32_t announced)
{
	const uint32_t now = LOAD_SEQ(word);
	const bool only_ours = (announced & WORD_SLEEPER_BITS) == WORD_SLEEPERS;
	/* The next number: or a waker that is about to clear the bits would take the next announcement for this one. */
	if (only_ours && (now == announced || now == word_posted(announced, last_ticket(waiter))))
		CAS_SEQ32(word, now, word_next_sequence(now) & ~WORD_SLEEPERS);
}

/*
 * At a tick: whether somebody else has just looked, for everybody, and nothing is new to this waiter. Then it wakes up
 * again at its next one. Looks at nothing but what all share: a waiter that wakes up so rarely has neither its record nor
 * the clock's memory in the caches any more, and with these a thousand waiters cost a seventh more.
 *
 * Its record need not be looked at: whoever made it HELD wakes the waiter, or whoever looks does.
 */
static bool
is_looked_after(const struct tsem *sem, const struct waiter *waiter, struct pace *pace)
{
	const uint64_t scanned = LOAD_ACQ(&sem->segment.header->scanned);
	if (scanned - pace->tick >= LOOK_EVERY) /* or before it: unsigned */
		return false;
	if (is_enabled(sem, waiter->ticket, waiter->count) || wait_end(sem, waiter) < 0)
		return false;
	pace->tick = own_tick(sem, waiter, next_tick(scanned));
	return true;
}

/* Sleeps until there may be something to do, or until `soon`. As platform.sleep(), or -ECANCELED. */
static int
sleep_through_ticks(struct tsem *sem, const struct waiter *waiter, _Atomic uint32_t *word, uint32_t seen, uint64_t soon,
                    struct pace *pace)
{
	for (;;) {
		const uint64_t wake_at = earlier_of(earlier_of(waiter->until, soon), earlier_of(pace->tick, pace->progress));
		const int rc = platform.sleep(word, seen, word_bit(last_ticket(waiter)), wake_at);
		if (rc != -ETIMEDOUT || wake_at != pace->tick || !is_looked_after(sem, waiter, pace))
			return rc;
		if (waiter->options->every_ms == 0 && wait_report_progress(sem, waiter))
			return -ECANCELED;
	}
}

static int
sleep_until_enabled(struct tsem *sem, const struct waiter *waiter, uint64_t *now)
{
	_Atomic uint32_t *const word = wait_word(sem, waiter);
	const struct tsem_wait *options = waiter->options;
	struct pace pace = wait_pace(options);
	struct posted posted = {.word = 0};
	uint32_t seen = 0;

	while (!wait_is_over(sem, waiter)) {
		seen = wait_announce(word, seen);
		watch_grants(sem);
		int rc = wait_check(sem, waiter, *now, &pace);
		if (rc < 0)
			return rc;
		if (wait_is_over(sem, waiter))
			break;
		if (*now >= waiter->until)
			return -ETIMEDOUT;

		const uint64_t soon = wait_posted(waiter, seen, *now, &posted);
		rc = sleep_through_ticks(sem, waiter, word, seen, soon, &pace);
		*now = platform.now();
		if (rc == -ECANCELED)
			return rc;
		if (rc == -EINTR && (options->flags & TSEM_INTERRUPTIBLE) != 0)
			return wait_is_over(sem, waiter) ? 0 : -EINTR;
	}
	wait_retract(word, waiter, seen);
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
