/* SPDX-License-Identifier: MIT */
/* The waiting array: how a waiter sleeps until its ticket is enabled, and how those who move E wake it. */
#ifndef TSEM_LIB_WAIT_H
#define TSEM_LIB_WAIT_H

#include "handle.h"
#include "platform.h"
#include "protocol.h"

/*
 * Somebody of those who sleep looks around at least this often, for all of them: whoever should have woken them may have
 * died before it did. Half a second is promised, and a loaded machine wants some of it. They do it at the same moments,
 * the multiples of this time: a thousand who wake up one after another, each from an idle machine, cost it twice as much.
 *
 * What they cost is the wake itself. So of a long line only those near its front and near its end, fewer than
 * TICKETS_NEAR tickets away when they fall asleep, wake up at each multiple, and the others at every second one, neighbours
 * in turns: the even multiples and the odd. Whoever dies, then, somebody looks in time, unless all who are left were in
 * the middle and have the same turn: then they look a tick later than promised.
 */
#define TICK (400 * NS_PER_MS)
enum { TICKETS_NEAR = 64 };

static inline uint64_t
next_tick(uint64_t now)
{
	return (now / TICK + 1) * TICK;
}

struct waiter {
	struct record *record; /* NULL: still waits for one, and has no ticket */
	uint64_t ticket;
	uint32_t count;
	const struct tsem_wait *options;
	uint64_t until;   /* the deadline in ns, or NS_FOREVER */
	uint32_t cancels; /* header->cancels from before the arrival */
};

/*
 * Called before a place in line is taken: if it was this process that let the last one in, it stays away from the line
 * for a microsecond or two, so that the other can do its work.
 */
void wait_backoff(const struct tsem *sem);

/*
 * Waits in a loop for a little while, if the ticket is near the front and that has been paying off; true: enabled. The
 * record may still be CLAIMED.
 */
bool wait_spinning(struct tsem *sem, const struct waiter *waiter);

/*
 * Returns 0 once the ticket is enabled, or the record was made HELD by somebody who lowered the capacity. Otherwise
 * -ETIMEDOUT, -EINTR, -ECANCELED or -EIDRM: the place in line is still ours, and to be given up. `now`: when that was.
 */
int wait_sleeping(struct tsem *sem, const struct waiter *waiter, uint64_t *now);

bool wait_is_over(const struct tsem *sem, const struct waiter *waiter);

/* -EIDRM, -ECANCELED: the wait has no point any more. */
int wait_end(const struct tsem *sem, const struct waiter *waiter);

/* When a sleeper has to wake up by itself. */
struct pace {
	uint64_t tick;     /* to look around; 0: not yet done */
	uint64_t progress; /* to report; NS_FOREVER: with the ticks, or never */
};

struct pace wait_pace(const struct tsem_wait *options);

/* Calls the waiter's progress function, if it has one; true: it wants to give up. The thread is not cancelled in there. */
bool wait_report_progress(struct tsem *sem, const struct waiter *waiter);

/*
 * What every waiter does when it is about to sleep and whenever it wakes up by itself. 0, -EIDRM, -ECANCELED. Sets when
 * to do it again. What it is the first to notice, at a tick, it tells the others.
 */
int wait_check(struct tsem *sem, const struct waiter *waiter, uint64_t now, struct pace *pace);

/* The word of the waiting array on which a waiter sleeps whose last ticket this is. */
static inline _Atomic uint32_t *
ticket_word(struct tsem *sem, uint64_t ticket)
{
	return &sem->segment.array[word_index(ticket, sem->hash_salt)];
}

_Atomic uint32_t *wait_word(struct tsem *sem, const struct waiter *waiter);

/*
 * Says on the word that somebody is about to sleep there, and returns what to expect of it. `announced`: what it returned
 * the last time in this wait, or 0; while the word is still that, there is nothing to say. E, and whether all were told to
 * give up, has to be looked at after that, or who changes it in between would see nobody to wake.
 */
uint32_t wait_announce(_Atomic uint32_t *word, uint32_t announced);

/* How long a waiter sleeps while its word, which was `word` the last time, says that a post is about to enable it. */
struct posted {
	uint32_t word;
	uint64_t pause;
};

#define POSTED_PAUSE (20 * UINT64_C(1000))

/*
 * When a waiter that has just announced itself should look again if a post is about to enable it: after a pause that is
 * doubled each time, for the post may have died, and begins anew when the word has changed. NS_FOREVER: no post is, or
 * it has died.
 */
uint64_t wait_posted(const struct waiter *waiter, uint32_t announced, uint64_t now, struct posted *posted);

/* Takes back what a waiter announced, if it alone sleeps there: a post may not do that after it has moved G. */
void wait_retract(_Atomic uint32_t *word, const struct waiter *waiter, uint32_t announced);

/* Counts a wait that had to sleep. */
void wait_count(struct tsem *sem, uint64_t ns);

/* Wakes those whom the grant enabled, and nobody else. No system call if nobody waits. Async-signal-safe. */
void wake_enabled(struct tsem *sem, const struct grant *grant);

/* Wakes those who are enabled or admitted and sleep on: whoever should have woken them has died before it did. */
void wake_overlooked(struct tsem *sem);

/* Wakes those who may sleep on the word of this ticket, to look again. */
void wake_ticket(struct tsem *sem, uint64_t ticket);

/* Wakes every sleeper there is, to look again: the capacity was raised, the name removed, all waits cancelled. */
void wake_all(struct tsem *sem);

/* The segment was removed: by tsem_remove(), or by somebody who deleted its file. Who notices tells the others. */
bool removal_notice(struct tsem *sem);

/* The same without a look at the file. Sees to it that there is no capacity then, so that everybody has to look. */
bool removal_notice_mark(const struct tsem *sem);

/*
 * The end `rc` of a way to permits that has looked for a removal before: 0 becomes -EIDRM if the semaphore was marked as
 * removed since, for these permits may be what a dead remover had seized. Before -EAGAIN it looks at the file.
 */
int fail_if_removed(struct tsem *sem, int rc);

/* From now on everybody fails with EIDRM. */
void removal_mark(struct tsem *sem);

#endif
