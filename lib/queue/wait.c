/* SPDX-License-Identifier: MIT */
#include "queue/wait.h"

#include <errno.h>

#include "cancellation.h"
#include "protocol/census.h"
#include "protocol/protocol.h"
#include "recovery/look.h"
#include "recovery/removal.h"
#include "system/platform.h"
#include "wake/wake.h"

/* ---- what a waiter does beside sleeping ---- */

#define REPORT_EVERY (800 * NS_PER_MS) /* as tsem(3) says */

/* If every_ms is 0, all waiters of a time namespace report at the same moments. */
static uint64_t
next_report(const struct tsem_wait *options, uint64_t now)
{
	if (options->progress == NULL)
		return NS_FOREVER;
	return options->every_ms != 0 ? now + options->every_ms * NS_PER_MS : next_multiple(now, REPORT_EVERY);
}

static uint64_t
first_report(const struct tsem_wait *options, uint64_t now)
{
	return options->progress != NULL && (options->flags & TSEM_QUEUED) != 0 ? now : next_report(options, now);
}

/* True: options->progress() ends the wait. */
static bool
report_progress(struct tsem *sem, const struct waiter *waiter)
{
	const struct tsem_wait *options = waiter->options;
	NO_CANCELLATION;
	/* If every_ms is 0, the position is not worth a look at every record. */
	const uint32_t position = options->every_ms == 0 ? 0 : census_position(sem, waiter->ticket);
	return options->progress(options->arg, position) != 0;
}

/* After a signal handler. Without progress(), or if it so decides, the wait ends. */
static bool
signal_ends_wait(int rc, const struct sleeper *first)
{
	const struct tsem_wait *options = first->waiter->options;
	if (!wait_is_interrupted(rc, options->flags))
		return false;
	return options->progress == NULL || report_progress(first->sem, first->waiter);
}

/*
 * The waiters behind this one that are QUEUED, up to `most`. A dead one of these counts until it is recovered, one that
 * gave up does not. In a burst, records are mostly claimed in the order of arrival, so the loop begins with the last.
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

/* The waiter looks for dead owners at the multiples of this period: see look.h. */
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

/*
 * -EIDRM or -ECANCELED: the wait is to end. After -ECANCELED, the caller keeps its ticket if that is enabled, the
 * semaphore is not removed, and nobody has declared the caller dead.
 */
static int
has_ended(const struct tsem *sem, const struct waiter *waiter)
{
	if (removal_is_marked(sem))
		return -EIDRM;
	return LOAD_SEQ(&sem->segment.header->cancels) != waiter->cancels ? -ECANCELED : 0;
}

static int
wait_check(struct tsem *sem, const struct waiter *waiter, uint64_t now, bool woken, struct timers *timers)
{
	const bool due = now >= timers->look;
	int rc = has_ended(sem, waiter);
	if (rc == 0 && (due || woken)) {
		look_unless_done(sem, now, due ? timers->look : 0);
		timers->look = next_multiple(now, look_period(sem, waiter, now - timers->began));
		rc = has_ended(sem, waiter);
	}
	/* Perhaps no process woke this waiter: the one that ended the waits may have died before it woke the others. */
	if (rc < 0 && due)
		wake_all(sem);
	if (rc < 0)
		return rc;
	/* Another process may have cancelled this waiter, and may have skipped its ticket. */
	const uint64_t state = LOAD_SEQ(&waiter->record->state);
	if (state_is_cancelled(state) || state_is_skipped(state))
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

/*
 * Clears SLEEPERS if the word shows that the waiter slept there alone. Most posts cannot clear it, because they must
 * not touch the word after the move of G.
 */
static void
retract(const struct sleeper *sleeper)
{
	const uint64_t last = waiter_last_ticket(sleeper->waiter);
	_Atomic uint32_t *word = ticket_word(sleeper->sem, last);
	const uint32_t announced = sleeper->announced;
	const uint32_t seen = LOAD_SEQ(word);
	const bool only_ours = (announced & WORD_SLEEPER_BITS) == WORD_SLEEPERS;
	/* If it was `posted` for this ticket already, a waker that clears the bits and then another waiter leave the same. */
	const bool posted = !word_is_posted(announced, last) && seen == word_posted(announced, last);
	if (only_ours && (seen == announced || posted))
		CAS_SEQ32(word, seen, seen & ~WORD_SLEEPERS);
}

uint64_t
wait_deadline(const struct timespec *deadline)
{
	if (deadline == NULL)
		return NS_FOREVER;
	if (deadline->tv_sec < 0)
		return 0;
	if ((uint64_t)deadline->tv_sec >= NS_FOREVER / NS_PER_SECOND / 2) /* about 292 years */
		return NS_FOREVER;
	return (uint64_t)deadline->tv_sec * NS_PER_SECOND + (uint64_t)deadline->tv_nsec;
}

uint64_t
wait_until(const struct tsem_wait *options, uint64_t now)
{
	const uint64_t deadline = wait_deadline(options->deadline);
	if ((options->flags & TSEM_REALTIME) == 0 || deadline == NS_FOREVER)
		return deadline;
	const uint64_t real_now = platform.real_now();
	return now + (deadline > real_now ? deadline - real_now : 0);
}

/* When to look whether the clock of the deadline has been set. */
static uint64_t
next_look_at_clock(const struct tsem_wait *options, uint64_t now)
{
	const bool may_be_set = options->deadline != NULL && (options->flags & TSEM_REALTIME) != 0;
	return may_be_set ? now + NS_PER_SECOND : NS_FOREVER;
}

/* Announces and checks each waiter. `*wake_at`: when the first of them has to wake up by itself. */
static int
prepare(struct sleeper *sleepers, size_t n, uint64_t now, bool woken, uint64_t *wake_at)
{
	const struct tsem_wait *options = sleepers->waiter->options;
	*wake_at = earlier_of(wait_until(options, now), next_look_at_clock(options, now));
	for (struct sleeper *s = sleepers; s < sleepers + n; s++) {
		s->announced = wait_announce(ticket_word(s->sem, waiter_last_ticket(s->waiter)), s->announced);
		watch_grants(s->sem);
		int rc = wait_check(s->sem, s->waiter, now, woken, &s->timers);
		if (rc < 0)
			return rc;
		const uint64_t again = wait_posted(s->waiter, s->announced, now, &s->posted);
		*wake_at = earlier_of(earlier_of(*wake_at, again), earlier_of(s->timers.look, s->timers.progress));
	}
	return 0;
}

static int
sleep_on_words(const struct sleeper *sleepers, size_t n, uint64_t wake_at)
{
	_Atomic uint32_t *words[TSEM_SEMAPHORES_MAX];
	uint32_t expected[TSEM_SEMAPHORES_MAX];
	const uint64_t last = waiter_last_ticket(sleepers->waiter);
	if (n == 1 && (sleepers->waiter->options->flags & TSEM_RESTART) == 0)
		return platform.sleep(ticket_word(sleepers->sem, last), sleepers->announced, word_bit(last), wake_at);
	for (size_t i = 0; i < n; i++) {
		words[i] = ticket_word(sleepers[i].sem, waiter_last_ticket(sleepers[i].waiter));
		expected[i] = sleepers[i].announced;
	}
	return platform.sleep_any(words, expected, n, wake_at);
}

/*
 * A cancellation takes effect only here, as in glibc's own cancellation points: the thread has a ticket and nothing else,
 * which its cleanup handler gives up.
 */
static int
sleep_cancelably(const struct sleeper *sleepers, size_t n, uint64_t wake_at)
{
	int type;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type); /* NOLINT(cert-pos47-c): for one system call */
	const int rc = sleep_on_words(sleepers, n, wake_at);
	pthread_setcanceltype(type, &type);
	return rc;
}

size_t
wait_find_enabled(const struct sleeper *sleepers, size_t n)
{
	size_t i = 0;
	while (i < n && !wait_is_over(sleepers[i].sem, sleepers[i].waiter))
		i++;
	return i;
}

int
wait_sleeping(struct sleeper *sleepers, size_t n, uint64_t *now, size_t *which)
{
	bool woken = false;
	const bool cancelable = (sleepers->waiter->options->flags & TSEM_CANCELABLE) != 0;
	for (struct sleeper *s = sleepers; s < sleepers + n; s++)
		s->timers = (struct timers){.began = *now, .progress = first_report(s->waiter->options, *now)};
	while ((*which = wait_find_enabled(sleepers, n)) == n) {
		uint64_t wake_at;
		int rc = prepare(sleepers, n, *now, woken, &wake_at);
		if (rc < 0)
			return rc;
		if ((*which = wait_find_enabled(sleepers, n)) < n)
			break;
		if (*now >= wait_until(sleepers->waiter->options, *now))
			return -ETIMEDOUT;
		rc = cancelable ? sleep_cancelably(sleepers, n, wake_at) : sleep_on_words(sleepers, n, wake_at);
		const bool ends = signal_ends_wait(rc, sleepers);
		*now = platform.now();
		woken = rc == 0;
		if (ends)
			return (*which = wait_find_enabled(sleepers, n)) < n ? 0 : -EINTR;
	}
	retract(&sleepers[*which]);
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
