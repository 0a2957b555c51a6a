/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <errno.h>
#include <limits.h>

#include "cancellation.h"
#include "census.h"
#include "platform.h"
#include "recover.h"
#include "vacancy.h"

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
	vacancy_wake_all(header);
	ADD_SEQ(&header->idle, 1);
	platform.wake(&header->idle, UINT32_MAX, INT_MAX);
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

/* Who marks it does so before such permits move, and their taker has read G or T behind that move. */
int
unless_removed(struct tsem *sem, int rc)
{
	const bool removed = rc == -EAGAIN ? is_removed(sem) : rc == 0 && is_marked_removed(sem);
	return removed ? -EIDRM : rc;
}

/* ROUNDS_WORTH_IT: with fewer left, spinning has not been paying off. ROUNDS_OF_COURTESY: a microsecond or two. */
enum { ROUNDS_WORTH_IT = 16, ROUNDS_OF_COURTESY = 64 };

/*
 * Without this, two processes that do little else pass the permit, and with it the counter line, to and fro at every
 * step; with it each works for a while out of its own cache. Nobody is overtaken: who has just been served stays away
 * from the line for a moment, and only if nobody else gave a permit back since. Where others wait behind the one that was let
 * in, the permit goes to them next, and to stay away only keeps the processor from that one.
 */
void
wait_out_of_courtesy(const struct tsem *sem)
{
	const uint64_t limit = enabled_limit(sem);
	if (LOAD_RLX(&sem->spin) < ROUNDS_WORTH_IT || LOAD_RLX(&sem->passed_on) != limit
	    || word_counter(LOAD_RLX(&sem->segment.header->tickets)) != limit)
		return;
	for (int i = 0; i < ROUNDS_OF_COURTESY; i++)
		platform.pause();
}

/*
 * Spins while it pays off: a spin that ends in success raises the number of rounds worth trying, one in vain lowers
 * it, and once it has fallen to nothing only every 64th wait tries again, once (after glibc's adaptive mutex and Preshing).
 */
bool
wait_spinning(struct tsem *sem, const struct waiter *waiter)
{
	const uint32_t ceiling = spin_ceiling();
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
tick_in_turn(const struct tsem *sem, const struct waiter *waiter, uint64_t tick)
{
	if (waiter->record == NULL) /* nor a place */
		return tick;
	const uint64_t issued = word_counter(LOAD_RLX(&sem->segment.header->tickets));
	const int64_t ahead = counter_diff(waiter->ticket, enabled_limit(sem));
	const int64_t behind = counter_diff(issued, waiter->ticket) - (int64_t)waiter->count;
	if (ahead < TICKETS_NEAR || behind < TICKETS_NEAR || tick % TICK != 0)
		return tick;
	const uint64_t turn = waiter->ticket / waiter->count;
	return (tick / TICK - turn) % 2 == 0 ? tick : tick + TICK;
}

int
wait_is_called_off(const struct tsem *sem, const struct waiter *waiter)
{
	if (is_marked_removed(sem))
		return -EIDRM;
	return LOAD_SEQ(&sem->segment.header->cancels) != waiter->cancels ? -ECANCELED : 0;
}

int
wait_look_around(struct tsem *sem, const struct waiter *waiter, uint64_t now, struct pace *pace)
{
	const bool first = pace->tick == 0;
	const bool ticked = now >= pace->tick;
	if (ticked)
		pace->tick = tick_in_turn(sem, waiter, recover_if_due(sem, now));
	const int rc = wait_is_called_off(sem, waiter);
	/* Not woken for it: whoever called it off may have died before it had woken everybody. */
	if (rc < 0 && ticked && !first)
		wake_everybody(sem);
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
		const bool said = (seen & SLOT_SLEEPERS) != 0;
		if (said && seen == announced) /* by this waiter, and unchanged since */
			return seen;
		next = seen | (said ? SLOT_SEVERAL : SLOT_SLEEPERS);
	} while (!CAS_SEQ32(word, seen, next));
	return next;
}

uint64_t
wait_soon(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted)
{
	if (posted->word != announced)
		*posted = (struct posted){.word = announced, .pause = POSTED_PAUSE};
	if (!slot_is_posted(announced, last_ticket(waiter)) || posted->pause >= TICK)
		return NS_FOREVER;
	const uint64_t soon = now + posted->pause;
	posted->pause *= 2;
	return soon;
}

void
wait_retract(_Atomic uint32_t *word, const struct waiter *waiter, uint32_t announced)
{
	const uint32_t now = LOAD_SEQ(word);
	const bool only_ours = (announced & SLOT_ANYBODY) == SLOT_SLEEPERS;
	/* The next number: or a waker that is about to clear the bits would take the next announcement for this one. */
	if (only_ours && (now == announced || now == slot_posted(announced, last_ticket(waiter))))
		CAS_SEQ32(word, now, slot_advance(now) & ~SLOT_SLEEPERS);
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
	if (is_enabled(sem, waiter->ticket, waiter->count) || wait_is_called_off(sem, waiter) < 0)
		return false;
	pace->tick = tick_in_turn(sem, waiter, next_tick(scanned));
	return true;
}

/* Sleeps until there may be something to do, or until `soon`. As platform.sleep(), or -ECANCELED. */
static int
sleep_through_ticks(struct tsem *sem, const struct waiter *waiter, _Atomic uint32_t *word, uint32_t seen, uint64_t soon,
                    struct pace *pace)
{
	for (;;) {
		const uint64_t wake_at = earlier_of(earlier_of(waiter->until, soon), earlier_of(pace->tick, pace->progress));
		const int rc = platform.sleep(word, seen, slot_bit(last_ticket(waiter)), wake_at);
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
		int rc = wait_look_around(sem, waiter, *now, &pace);
		if (rc < 0)
			return rc;
		if (wait_is_over(sem, waiter))
			break;
		if (*now >= waiter->until)
			return -ETIMEDOUT;

		const uint64_t soon = wait_soon(waiter, seen, *now, &posted);
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
