/* SPDX-License-Identifier: MIT */
/*
 * Posting. Its last access to the semaphore's memory, and to the handle, is the compare-and-swap that moves G: the waiter
 * that this move admits may unmap both at once, as POSIX allows after sem_wait(). So whatever a release does after it moved
 * G, a post does before, and G's tag tells it whether anything has to be done:
 *
 *   NONE            No process sleeps in the queue, or watches the counters, and no place is given up. The post moves G,
 *                   and is over.
 *   WATCHED(_TOO)   A process may. The post advances the words of the tickets that it will enable, says on them that it
 *                   does (`posted`), and remembers on which of them a waiter sleeps. It moves G, and wakes these by
 *                   address alone, as glibc's sem_post() does.
 *   a record's      The last move was a release. The post gives G one of the other tags first.
 *
 * A waiter says on its word that it sleeps, makes G watched, looks at E, and sleeps on what it read of the word:
 *
 *   - It speaks before the post advances the word: then the post wakes it, or the kernel finds that the word has changed.
 *   - It speaks after that: then it reads `posted` for its own ticket, and looks again after some microseconds and not only
 *     at the next tick, until E has moved. (The post may have died in between, so it must not wait for that either.)
 *   - It makes G watched after the post has read NONE: then the compare-and-swap of the post fails.
 *
 * A release that moves G leaves its own tag there and looks for sleepers afterwards, so that tag says nothing: the next
 * waiter that is about to sleep, or the next post, replaces it.
 *
 * Only a post makes G NONE again. It does so when it finds T not ahead of E and `pending` empty, and looks at T once more
 * after that: an arrival between the two looks may have found G watched, and sleep. From a record's tag to NONE no second
 * look is necessary: an arrival that is about to sleep changes that tag.
 *
 * Whatever else a post reads before it moves G, the capacity and `pending`, is changed by processes that call
 * stir_grants() afterwards. There are two values for "watched" so that this always changes G.
 *
 * Two accidents within the few instructions from the look to the move cost a waiter the time to its next tick, and nothing
 * else: two changes of G's tag that bring the first value back; and 4,096 tickets that pass while a post stands still,
 * which then says `posted` for an old round of the array on a word where another post has just said it for this one.
 *
 * A place given up (an orphan) that is next in the queue is skipped before the post, for it would take permits that are due
 * to the waiters behind it. While it is only next, it has none, so a post that moves E to such a place leaves it there,
 * for the waiter that it admits, or for the next post.
 *
 * Three kinds of post touch the memory after the move: of ARRAY_WORDS permits or more; of several permits, which move E
 * beyond a place given up; and while a process waits for idleness.
 */
#include <errno.h>
#include <limits.h>

#include "protocol.h"
#include "recover.h"
#include "wait.h"

/* What a post reads. G before all else: whatever is changed behind a change of G was read after it, or the swap fails. */
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
move_grants(struct tsem *sem, const struct view *view, uint32_t count)
{
	return CAS_SEQ(&sem->segment.header->grants, view->grants, view->grants + counter_word_make(count, 0));
}

/* Makes G's tag NONE, for T was not ahead of E, and nothing was pending. False: a record is out of reach. */
static bool
make_quiet(struct tsem *sem, const struct view *view)
{
	bool done;
	if (!retag_grants(sem, view->grants, TAG_NONE, &done))
		return false;
	if (!done || LOAD_SEQ(&sem->segment.header->tickets) == view->tickets)
		return true;
	/* The arrival may have looked at G before, and sleep; another post may have enabled it since, and found nothing to do. */
	if (!watch_grants(sem))
		return false;
	const struct grant since = {.moved = true, .from = view->limit, .to = enabled_limit(sem)};
	wake_enabled(sem, &since);
	return true;
}

/* One bit for each of the tickets that are about to be enabled: a waiter sleeps on its word. */
struct sleepers {
	uint64_t bits[ARRAY_WORDS / 64];
};

/* False: G has changed, so what is announced may be wrong, and the move would fail. */
static bool
announce_post(struct tsem *sem, const struct view *view, uint32_t count, struct sleepers *sleepers)
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
			sleepers->bits[i / 64] = 0;
		if ((seen & WORD_SLEEPER_BITS) != 0)
			sleepers->bits[i / 64] |= UINT64_C(1) << i % 64;
	}
	return true;
}

/* Moves G, and wakes the waiters that this enables. False, and nothing is done but announced: G has changed. */
static bool
move_and_wake(struct tsem *sem, const struct view *view, uint32_t count)
{
	struct sleepers sleepers;
	_Atomic uint32_t *const array = sem->segment.array;
	const uint32_t hash_salt = sem->hash_salt;
	if (!announce_post(sem, view, count, &sleepers) || !move_grants(sem, view, count))
		return false;
	/* From here on `sem` and the memory may be gone: only addresses are used. */
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t ticket = counter_add(view->limit, i);
		if ((sleepers.bits[i / 64] >> i % 64 & 1) != 0)
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
		if (!move_grants(sem, view, count))
			return POST_AGAIN;
		grant_notify_moved(sem, view->grants, count);
		return POST_DONE;
	}
	if (view->room < 0)
		STORE_RLX(&sem->last_handoff, counter_add(view->limit, count));
	if (tag == TAG_NONE)
		return move_grants(sem, view, count) ? POST_DONE : POST_AGAIN;
	if (view->room >= 0 && (view->pending & PENDING_MASK) == 0)
		return make_quiet(sem, view) ? POST_AGAIN : POST_STUCK;
	if (!tag_is_watched(tag))
		return watch_grants(sem) ? POST_AGAIN : POST_STUCK;
	return move_and_wake(sem, view, count) ? POST_DONE : POST_AGAIN;
}

/* A place given up is next in the queue: it would take what live waiters are to get. */
static bool
is_orphan_next(const struct view *view)
{
	return (view->pending & PENDING_ORPHANS) != 0 && counter_diff(view->limit, counter_value(view->pending)) >= 0;
}

/* E beyond T after the post, once the places given up are skipped: they are not waited for. */
static int64_t
room_after(struct tsem *sem, const struct view *view, uint32_t count)
{
	const int64_t room = view->room + (int64_t)count;
	return sem->max != 0 && (view->pending & PENDING_ORPHANS) != 0 ? room + count_given_up(sem) : room;
}

static int
post_until_done(struct tsem *sem, uint32_t count, uint32_t *previous)
{
	enum { SKIPS = 64 }; /* one for each waiter that gives up at the same time; the rest is skipped afterwards */
	int skips = 0;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const struct view view = look_around(sem);
		if (is_orphan_next(&view) && skips++ < SKIPS) {
			skip_orphans(sem);
			continue;
		}
		const int64_t available = view.room > 0 ? view.room : 0;
		const int64_t after = room_after(sem, &view, count);
		if (after > COUNTER_DRIFT || (sem->max != 0 && after > (int64_t)sem->max))
			return -EOVERFLOW;
		const enum step step = attempt(sem, &view, count);
		if (step == POST_STUCK)
			return -EBADMSG;
		if (step == POST_DONE) {
			PROBE_FAST(post, sem);
			*previous = available < (int64_t)UINT32_MAX ? (uint32_t)available : UINT32_MAX;
			return 0;
		}
	}
	return -EBADMSG;
}

/* When G's tag is not NONE, with a maximum, when the number from before is asked for, or a mistake in the arguments. */
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
	uint32_t before;
	int rc = post_until_done(sem, count, &before);
	errno = saved;
	if (rc == 0 && previous != NULL)
		*previous = before;
	return rc;
}

/*
 * When nothing limits it, and no process watches: one look and one compare-and-swap. What others change between the two but
 * for G is no matter: so little at a time, all threads of a machine together do not come from here to the end of the range.
 */
int
tsem_post(tsem *sem, uint32_t count, uint32_t *previous)
{
	struct header *header = sem->segment.header;
	const uint64_t grants = LOAD_RLX(&header->grants);
	const uint32_t capacity = LOAD_RLX(&header->capacity);
	const uint64_t tickets = LOAD_RLX(&header->tickets);
	const uint64_t limit = counter_word_advance(grants, capacity, counter_tag(tickets));
	/* Unsigned: neither below T, nor far above. */
	if (counter_tag(grants) != TAG_NONE || previous != NULL || count - 1 >= sem->fast_post_max || capacity == 0
	    || limit - tickets >= counter_word_make(FAST_POST_MAX, 0)
	    || !CAS_SEQ(&header->grants, grants, grants + counter_word_make(count, 0)))
		return post_slow(sem, count, previous);
	PROBE_FAST(post, sem);
	return 0;
}
