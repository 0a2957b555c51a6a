/* SPDX-License-Identifier: MIT */
/*
 * Posting. The last access of a post to the semaphore's memory, and to the handle, is the compare-and-swap that moves
 * G, except for the posts at the end of this comment: the waiter that this move admits may unmap both at once, as POSIX
 * allows after sem_wait(). What a release does after it has moved G, a post does before, and G's tag says beforehand
 * whether anything has to be done:
 *
 *   NONE            No process watches the counters, and apart from the accidents below, none sleeps that a post has to
 *                   wake. The post moves G and is over.
 *   WATCHED         A process may sleep or watch. The post advances the words of the tickets that it will enable,
 *                   writes `posted` on them, and remembers on which of them a waiter may sleep. It moves G,
 *                   and then wakes these waiters by address alone, as glibc's sem_post() does.
 *   a record's      The last move that left a tag was a release. The post makes it NONE or WATCHED first, unless it
 *                   looks for waiters afterwards.
 *
 * A waiter announces itself on its word, makes G watched, reads E, and sleeps on the value that it has left in the
 * word:
 *
 *   - If it announces itself before the post advances the word, the post wakes it, or the kernel finds that the word
 *     has changed.
 *   - If it does so afterwards, it reads `posted` for its own ticket. It then reads E again after pauses that double
 *     from 20 us, until they reach a TICK. It cannot wait for the post itself, which may have died in between.
 *   - If it makes G watched after the post has read NONE, the post's compare-and-swap fails.
 *
 * A release that moves G leaves its own tag there and looks for sleepers afterwards. So this tag says nothing, and the
 * next waiter that is about to sleep replaces it, or the next post that does not look afterwards.
 *
 * Only a post makes G's tag NONE again. It does so when T is not ahead of E, and reads T once more afterwards: a waiter
 * that came between the two reads may have found WATCHED, and may sleep.
 *
 * After its change, a setter, a process that notes an orphan, or one that waits for idleness calls bump_grants(), which
 * gives G the next of the three WATCHED values. One lowering of the capacity calls it twice, so two values would not
 * do. A removal, and a process that clears a bit of `pending`, need not: the post that has read the old value does no
 * harm.
 *
 * Beside a death, these accidents may delay a waiter that a post is to admit until its next look:
 *
 *   - A post stands still in make_quiet() after its write of NONE, or between its move and its wake-up.
 *   - A setter stands still between its store of a lower C and its first bump_grants(), or a process that makes a
 *     waiter an orphan between that and its bump_grants().
 *   - A post stands still between its write of `posted` and its move for longer than the pauses (at most 0.7 s in all)
 *     of a waiter that announces itself then.
 *   - 4,096 tickets pass between the reads of a post and its write of `posted`. That write then replaces what another
 *     post has just written on the word for a later ticket.
 *   - Between the reads of a post and its move, changes of G's tag restore the value that it has read. It has then
 *     judged by old values, and may also exceed the maximum.
 *
 * An orphan that is next in the queue is skipped before the post: it would take the permits that the waiters behind it
 * are to get. An orphan that becomes the next one by the post itself takes nothing yet. The waiter that this post
 * admits skips it, or the next post does.
 *
 * Three kinds of post look for waiters afterwards, and so touch the memory after the move: a post of ARRAY_WORDS
 * permits or more; a post that moves E beyond an orphan that it knows of (a post of one permit does so only after SKIPS
 * skips); and a post while `pending` says that a process waits for idleness, even if that process is dead. fast_post()
 * looks for none: it moves G only if it has read NONE.
 */
#include "calls/post.h"

#include <errno.h>
#include <limits.h>

#include "protocol/anonymous.h"
#include "protocol/fast.h"
#include "recovery/recover_front.h"
#include "system/platform.h"
#include "wake/wake.h"

/*
 * What a post reads, G first: if another process changes one of the other words and then G, the post reads that change,
 * or its swap fails, unless the tag was restored (see above).
 */
struct view {
	uint64_t grants;
	uint32_t capacity;
	uint64_t tickets;
	uint64_t pending;
	uint64_t limit; /* E */
	int64_t room;   /* how far E is ahead of T */
};

static struct view
look_around(const struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	struct view view = {.grants = LOAD_SEQ(&header->grants)};
	view.capacity = LOAD_SEQ(&header->capacity);
	view.tickets = LOAD_SEQ(&header->tickets);
	view.pending = LOAD_SEQ(&header->pending);
	view.limit = counter_add(counter_value(view.grants), view.capacity);
	view.room = counter_diff(view.limit, counter_value(view.tickets));
	return view;
}

static bool
has_moved(const struct tsem *sem, const struct view *view)
{
	const struct header *header = sem->segment.header;
	return LOAD_SEQ(&header->tickets) != view->tickets || LOAD_SEQ(&header->grants) != view->grants;
}

/* Makes G's tag NONE, because T was not ahead of E. False: a record cannot be mapped. */
static bool
make_quiet(struct tsem *sem, const struct view *view)
{
	const int rc = retag_grants(sem, view->grants, TAG_NONE);
	if (rc == -EBADMSG)
		return false;
	if (rc < 0 || LOAD_SEQ(&sem->segment.header->tickets) == view->tickets)
		return true;
	/* The arrival may have found G watched, and sleep. Another post may have read NONE and enabled it. */
	if (!watch_grants(sem))
		return false;
	const struct grant since = {.moved = true, .from = view->limit, .to = enabled_limit(sem)};
	wake_enabled(sem, &since);
	return true;
}

/*
 * Advances the words and writes `posted` on them. `sleepers`: the bit of ticket E + i is set if a waiter may sleep on
 * its word. False: G has changed, so the move would fail.
 */
static bool
announce_post(struct tsem *sem, const struct view *view, uint32_t count, uint64_t sleepers[ARRAY_WORDS / 64])
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t ticket = counter_add(view->limit, i);
		_Atomic uint32_t *word = ticket_word(sem, ticket);
		uint32_t seen;
		do {
			if (LOAD_SEQ(&sem->segment.header->grants) != view->grants)
				return false;
			seen = LOAD_SEQ(word);
		} while (!CAS_SEQ32(word, seen, word_posted(seen, ticket)));
		if (i % 64 == 0)
			sleepers[i / 64] = 0;
		if ((seen & WORD_SLEEPER_BITS) != 0)
			sleepers[i / 64] |= UINT64_C(1) << i % 64;
	}
	return true;
}

/* Moves G, and wakes the waiters that this enables. False: G has changed, and nothing has moved. */
static bool
move_and_wake(struct tsem *sem, const struct view *view, uint32_t count)
{
	uint64_t sleepers[ARRAY_WORDS / 64];
	_Atomic uint32_t *const array = sem->segment.array;
	const uint32_t hash_salt = sem->hash_salt;
	if (!announce_post(sem, view, count, sleepers) || !post_grants(sem, view->grants, count))
		return false;
	/* The handle and the memory may be gone by now, so only addresses are used. */
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t ticket = counter_add(view->limit, i);
		if ((sleepers[i / 64] >> i % 64 & 1) != 0)
			platform.wake(&array[word_index(ticket, hash_salt)], word_bit(ticket), INT_MAX);
	}
	return true;
}

static bool
has_to_look_afterwards(const struct view *view, uint32_t count)
{
	const uint64_t orphan = counter_value(view->pending);
	return (view->pending & (PENDING_IDLE | PENDING_HOLDERS)) != 0 || count >= ARRAY_WORDS
	       || ((view->pending & PENDING_ORPHANS) != 0 && counter_diff(counter_add(view->limit, count), orphan) > 0);
}

enum step { POST_AGAIN, POST_DONE, POST_STUCK };

/* One attempt, for `view`. */
static enum step
attempt(struct tsem *sem, const struct view *view, uint32_t count)
{
	const uint64_t tag = counter_tag(view->grants);
	if (has_to_look_afterwards(view, count)) {
		if (!post_grants(sem, view->grants, count))
			return POST_AGAIN;
		grant_notify_moved(sem, view->grants, count);
		return POST_DONE;
	}
	if (view->room < 0)
		STORE_RLX(&sem->last_handoff, counter_add(view->limit, count));
	if (tag == TAG_NONE)
		return post_grants(sem, view->grants, count) ? POST_DONE : POST_AGAIN;
	if (view->room >= 0)
		return make_quiet(sem, view) ? POST_AGAIN : POST_STUCK;
	if (!tag_is_watched(tag))
		return watch_grants(sem) ? POST_AGAIN : POST_STUCK;
	return move_and_wake(sem, view, count) ? POST_DONE : POST_AGAIN;
}

/* Whether an orphan is next in the queue. */
static bool
is_orphan_next(const struct view *view)
{
	return (view->pending & PENDING_ORPHANS) != 0 && counter_diff(view->limit, counter_value(view->pending)) >= 0;
}

/*
 * 0: the post may move G from view->grants. -EOVERFLOW: it would exceed a limit. -EAGAIN: T or G has moved, so the
 * orphans that were counted may not be those of the view. -EBADMSG.
 */
static int
check_limits(struct tsem *sem, const struct view *view, uint32_t count, bool bounded)
{
	int64_t anonymous;
	/* E - T after the post, once the orphans are skipped: they give their permits back. */
	int64_t after = view->room + (int64_t)count;
	const bool has_orphans = sem->max != 0 && (view->pending & PENDING_ORPHANS) != 0;
	if (has_orphans)
		after += count_orphaned(sem);
	if (after > COUNTER_DRIFT || (sem->max != 0 && after > (int64_t)sem->max))
		return has_orphans && has_moved(sem, view) ? -EAGAIN : -EOVERFLOW;
	if (!bounded)
		return 0;
	if (!anonymous_count(sem, view->grants, view->tickets, &anonymous))
		return -EBADMSG;
	return anonymous >= (int64_t)count ? 0 : -EOVERFLOW;
}

/* `bounded`: it may only give back what was taken anonymously. */
static int
post_until_done(struct tsem *sem, uint32_t count, bool bounded, uint32_t *previous)
{
	enum { SKIPS = 64 }; /* the first skips all; each further one, those that gave up meanwhile */
	int skips = 0;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const struct view view = look_around(sem);
		if (is_orphan_next(&view) && skips++ < SKIPS) {
			skip_orphans(sem);
			continue;
		}
		const int64_t available = view.room > 0 ? view.room : 0;
		const int rc = check_limits(sem, &view, count, bounded);
		if (rc == -EAGAIN)
			continue;
		if (rc < 0)
			return rc;
		const enum step step = attempt(sem, &view, count);
		if (step == POST_STUCK)
			return -EBADMSG;
		if (step == POST_DONE) {
			PROBE_SEM(post, sem);
			if (previous != NULL)
				*previous = available < (int64_t)UINT32_MAX ? (uint32_t)available : UINT32_MAX;
			return 0;
		}
	}
	return -EBADMSG;
}

/* For what fast_post() refuses. */
static __attribute__((noinline)) int
post_slow(struct tsem *sem, uint32_t count, uint32_t *previous)
{
	if (count == 0)
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	if (LOAD_RLX(&sem->segment.header->removed) != 0)
		return -EIDRM;

	const int saved = errno;
	int rc = post_until_done(sem, count, sem->bounded, previous);
	errno = saved;
	return rc;
}

int
post_taken(struct tsem *sem, uint32_t count)
{
	return post_until_done(sem, count, true, NULL);
}

int
tsem_post(tsem *sem, uint32_t count, uint32_t *previous)
{
	return fast_post(sem, count, previous) ? 0 : post_slow(sem, count, previous);
}
