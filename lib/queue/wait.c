/* SPDX-License-Identifier: MIT */
#include "queue/wait.h"

#include <errno.h>
#include <sched.h>

#include "cancellation.h"
#include "protocol/census.h"
#include "recovery/look.h"
#include "system/platform.h"
#include "protocol/protocol.h"
#include "recovery/removal.h"
#include "wake/ticket_word.h"
#include "wake/wake.h"

bool
wait_is_over(const struct tsem *sem, const struct waiter *waiter)
{
	return is_enabled(sem, waiter->ticket, waiter->count) || state_kind(LOAD_SEQ(&waiter->record->state)) == STATE_HELD;
}

/* ---- spinning ---- */

#define ROUNDS_WORTH_IT 16 /* a smaller budget means that spins were in vain */

#define REPORT_EVERY (800 * NS_PER_MS) /* as tsem.h says */

uint32_t
wait_spin_ceiling(void)
{
	static _Atomic uint32_t ceiling = UINT32_MAX;
	uint32_t known = LOAD_RLX(&ceiling);
	cpu_set_t cpus;
	if (known == UINT32_MAX) {
		/* The call fails on machines with more CPUs than the set has room for. */
		known = sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1 ? SPIN_MAX : 0;
		STORE_RLX(&ceiling, known);
	}
	return known;
}

/*
 * Without the backoff, two processes in tight loops exchange the permit, and the cache line of the counters, at every
 * step. With the backoff, each works for a while from its own cache. No process is overtaken: the process that has just
 * let a waiter in stays out of the queue for a moment, and only if no other process has returned a permit since. If
 * others wait behind that waiter, the permit goes to them next, and a backoff would only keep the processor busy.
 */
void
wait_backoff(const struct tsem *sem)
{
	const uint64_t limit = enabled_limit(sem);
	if (LOAD_RLX(&sem->spin) < ROUNDS_WORTH_IT || LOAD_RLX(&sem->last_handoff) != limit
	    || counter_value(LOAD_RLX(&sem->segment.header->tickets)) != limit)
		return;
	const uint64_t until = platform.now() + BACKOFF_FOR;
	do
		platform.pause();
	while (platform.now() < until);
}

/*
 * A spin that succeeds raises the number of rounds that the next one may take, and a spin in vain lowers it. Once the
 * number is not worth a spin, every 64th wait spins again to find out (after glibc's adaptive mutex, and Preshing).
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

/* ---- what a waiter does beside sleeping ---- */

/* Without a pace, all waiters report at the same moments. */
static uint64_t
next_report(const struct tsem_wait *options, uint64_t now)
{
	return options->every_ms != 0 ? now + options->every_ms * NS_PER_MS : next_multiple(now, REPORT_EVERY);
}

/* True: the function ends the wait. */
static bool
report_progress(struct tsem *sem, const struct waiter *waiter)
{
	const struct tsem_wait *options = waiter->options;
	NO_CANCELLATION;
	/* Without a pace, the position is not worth a look at every record. */
	const uint32_t position = options->every_ms == 0 ? 0 : census_position(sem, waiter->ticket);
	return options->progress(options->arg, position) != 0;
}

struct timers
wait_timers(const struct tsem_wait *options, uint64_t now)
{
	struct timers timers = {.began = now, .look = 0, .progress = NS_FOREVER};
	if (options->progress != NULL)
		timers.progress = next_report(options, now);
	return timers;
}

/*
 * The waiters behind this one, up to `most`. A dead one counts until it is recovered, one that gave up does not. Records
 * are mostly claimed in the order of arrival, so this begins with the last.
 */
static uint32_t
count_behind(struct tsem *sem, const struct waiter *waiter, uint32_t most)
{
	const uint64_t issued = counter_value(LOAD_RLX(&sem->segment.header->tickets));
	if (counter_diff(issued, waiter->ticket) <= (int64_t)waiter->count)
		return 0;
	uint32_t n = 0;
	uint64_t state;
	for (uint32_t i = record_limit(sem); i-- > 0 && n < most;) {
		const struct record *record = record_at(sem, i);
		n += record != NULL && record_is_queued(record, &state) && counter_diff(state_value(state), waiter->ticket) > 0;
	}
	return n;
}

/* At the multiples of which time this waiter looks at present: see look.h. */
static uint64_t
look_period(struct tsem *sem, const struct waiter *waiter, uint64_t waited)
{
	const uint32_t behind = count_behind(sem, waiter, DEPUTIES + 1);
	if (behind <= DEPUTIES)
		return behind == 0 && waited < LOOKOUT_FOR ? lookout_period(sem) : TICK;
	/* A peer may have scribbled on `line`. */
	const uint64_t line = earlier_of(LOAD_RLX(&sem->segment.header->line), RECORDS_MAX);
	return SLOW_TICK * (line / (SLOW_LINE + 1) + 1);
}

/* -EIDRM, -ECANCELED: the wait ends without a permit. */
static int
has_ended(const struct tsem *sem, const struct waiter *waiter)
{
	if (removal_is_marked(sem))
		return -EIDRM;
	return LOAD_SEQ(&sem->segment.header->cancels) != waiter->cancels ? -ECANCELED : 0;
}

/* Another process has cancelled this waiter, and may have skipped its ticket. */
static bool
must_give_up(uint64_t state)
{
	return state_is_cancelled(state) || state_is_skipped(state);
}

int
wait_check(struct tsem *sem, const struct waiter *waiter, uint64_t now, bool woken, struct timers *timers)
{
	const bool first = timers->look == 0;
	const bool due = now >= timers->look;
	int rc = has_ended(sem, waiter);
	if (rc == 0 && (due || woken)) {
		look_unless_done(sem, now, due ? timers->look : 0);
		timers->look = next_multiple(now, look_period(sem, waiter, now - timers->began));
		rc = has_ended(sem, waiter);
	}
	/* The process that ended the waits may have died before it woke the waiters: this one has learnt of it by chance. */
	if (rc < 0 && due && !first)
		wake_all(sem);
	if (rc < 0)
		return rc;
	if (must_give_up(LOAD_SEQ(&waiter->record->state)))
		return -ECANCELED;
	if (now < timers->progress)
		return 0;
	timers->progress = next_report(waiter->options, now);
	return report_progress(sem, waiter) ? -ECANCELED : 0;
}

/* ---- sleeping ---- */

static uint64_t
waiter_last_ticket(const struct waiter *waiter)
{
	return last_ticket(waiter->ticket, waiter->count);
}

_Atomic uint32_t *
wait_word(struct tsem *sem, const struct waiter *waiter)
{
	return ticket_word(sem, waiter_last_ticket(waiter));
}

uint32_t
wait_announce(_Atomic uint32_t *word, uint32_t announced)
{
	uint32_t seen, next;
	do {
		seen = LOAD_SEQ(word);
		const bool has_sleeper = (seen & WORD_SLEEPERS) != 0;
		if (has_sleeper && seen == announced) /* this waiter's own announcement, and unchanged since */
			return seen;
		next = seen | (has_sleeper ? WORD_SEVERAL : WORD_SLEEPERS);
	} while (!CAS_SEQ32(word, seen, next));
	return next;
}

uint64_t
wait_posted(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted)
{
	if (posted->word != announced)
		*posted = (struct posted){.word = announced, .pause = POSTED_PAUSE};
	if (!word_is_posted(announced, waiter_last_ticket(waiter)) || posted->pause >= TICK)
		return NS_FOREVER;
	const uint64_t again = now + posted->pause;
	posted->pause *= 2;
	return again;
}

void
wait_retract(_Atomic uint32_t *word, const struct waiter *waiter, uint32_t announced)
{
	const uint32_t now = LOAD_SEQ(word);
	const bool only_ours = (announced & WORD_SLEEPER_BITS) == WORD_SLEEPERS;
	/*
	 * The sequence number advances, too. Otherwise a waker that is about to clear the bits would mistake a later
	 * announcement for this one.
	 */
	if (only_ours && (now == announced || now == word_posted(announced, waiter_last_ticket(waiter))))
		CAS_SEQ32(word, now, word_next_sequence(now) & ~WORD_SLEEPERS);
}

static int
sleep_until_enabled(struct tsem *sem, const struct waiter *waiter, uint64_t *now)
{
	_Atomic uint32_t *const word = wait_word(sem, waiter);
	const struct tsem_wait *options = waiter->options;
	struct timers timers = wait_timers(options, *now);
	struct posted posted = {.word = 0};
	uint32_t seen = 0;
	bool woken = false;

	while (!wait_is_over(sem, waiter)) {
		seen = wait_announce(word, seen);
		watch_grants(sem);
		int rc = wait_check(sem, waiter, *now, woken, &timers);
		if (rc < 0)
			return rc;
		if (wait_is_over(sem, waiter))
			break;
		if (*now >= waiter->until)
			return -ETIMEDOUT;

		const uint64_t again = wait_posted(waiter, seen, *now, &posted);
		rc = platform.sleep(word, seen, word_bit(waiter_last_ticket(waiter)), wait_until(waiter, &timers, again));
		*now = platform.now();
		woken = rc == 0;
		if (wait_is_interrupted(rc, options->flags))
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
	uint64_t longest;
	do
		longest = LOAD_RLX(&statistics->wait_longest);
	while (ns > longest && !CAS_SEQ(&statistics->wait_longest, longest, ns));
}

int
wait_sleeping(struct tsem *sem, const struct waiter *waiter, uint64_t *now)
{
	const uint64_t began = *now = platform.now();
	int rc = sleep_until_enabled(sem, waiter, now);
	wait_count(sem, *now - began);
	return rc;
}
