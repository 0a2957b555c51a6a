/* SPDX-License-Identifier: MIT */
/* The owned pair: a hold is recorded for a process, and comes back by itself if that process dies. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hold.h"
#include "identity.h"
#include "liveness.h"
#include "platform.h"
#include "protocol.h"
#include "queue.h"
#include "recover.h"
#include "wait.h"

struct hold *
hold_inside(tsem_hold *hold)
{
	return (struct hold *)(void *)hold;
}

static struct tsem *
hold_sem(const struct hold *hold)
{
	return (struct tsem *)(uintptr_t)hold->sem;
}

/* ---- acquire ---- */

/*
 * The first holder after a recovery is told of it. Relaxed: recoverers say it before they move G, and whoever is admitted
 * has read G behind that.
 */
static inline bool
is_told_of_abandonment(struct tsem *sem)
{
	_Atomic uint32_t *abandoned = &sem->segment.header->abandoned;
	return LOAD_RLX(abandoned) != 0 && atomic_exchange(abandoned, 0) != 0;
}

static inline void
fill_hold(struct tsem *sem, uint32_t index, uint64_t who, uint64_t ticket, tsem_hold *out)
{
	*hold_inside(out) = (struct hold){
		.sem = (uint64_t)(uintptr_t)sem,
		.who = who,
		.ticket = ticket,
		.record = index,
		.recovered = is_told_of_abandonment(sem),
	};
}

void
hold_become(struct tsem *sem, const struct place_in_line *place, tsem_hold *out)
{
	/* A plain store: a helper may only have written QUEUED, which this follows, or the same HELD. */
	struct record *record = place->claim.record;
	STORE_RLX(&record->until, 0);
	STORE_REL(&record->what, what_next(LOAD_RLX(&record->what), STATE_HELD, place->waiter.ticket));
	fill_hold(sem, place->claim.index, place->claim.who, place->waiter.ticket, out);
}

/* Behind the rest, so that what comes before needs no stack. */
static __attribute__((noinline)) int
stamp(struct record *record)
{
	STORE_RLX(&record->since, coarse_now());
	return 0;
}

/*
 * Without contention, and with a record from before: a few looks and stores and one CAS. NULL: the long way. What is
 * needed behind the CAS is read again, so that less has to be saved on the stack in front of it: a CAS waits until
 * every store before it has reached the cache.
 */
static inline __attribute__((always_inline)) struct record *
acquire_at_once(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct kept *entry = record_kept_entry(sem);
	const uint64_t who = identity_who_cached();
	if (who == 0 || !record_is_kept(entry, who))
		return NULL;
	struct record *record = &sem->segment.records[LOAD_RLX(&entry->record)];
	record_fill(record, count);
	uint64_t tickets;
	const uint64_t tag = tag_make(LOAD_RLX(&entry->record), what_a(LOAD_RLX(&record->what)));
	if (!arrive_at_once(sem->segment.header, tag, count, &tickets)) {
		record_unfill(record);
		return NULL;
	}
	PROBE_AT_ONCE(take, sem);
	/* A plain store, as in hold_become(). */
	const uint64_t ticket = word_counter(tickets);
	STORE_REL(&record->what, what_next(LOAD_RLX(&record->what), STATE_HELD, ticket));
	fill_hold(sem, LOAD_RLX(&entry->record), LOAD_RLX(&record->who), ticket, hold);
	entry->who = 0;
	return record;
}

static __attribute__((noinline)) int
acquire_in_line(struct tsem *sem, uint32_t count, const struct tsem_wait *options, tsem_hold *hold)
{
	struct place_in_line place;
	int rc = queue_check(sem, count, options);
	if (rc == 0)
		wait_out_of_courtesy(sem);
	if (rc == 0)
		rc = queue_enter(sem, count, USE_HOLD, options, &place);
	if (rc == 0)
		hold_become(sem, &place, hold);
	return rc;
}

static __attribute__((noinline)) int
acquire_until(struct tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	const struct tsem_wait options = {.size = sizeof(options), .deadline = deadline};
	return acquire_in_line(sem, count, &options, hold);
}

int
hold_try_any(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct place_in_line place;
	int rc = queue_try_enter(sem, count, USE_HOLD, &place);
	if (rc == 0)
		hold_become(sem, &place, hold);
	return rc;
}

static __attribute__((noinline)) int
acquire_or_fail(struct tsem *sem, uint32_t count, tsem_hold *hold)
{
	int rc = queue_check(sem, count, NULL);
	return rc < 0 ? rc : hold_try_any(sem, count, hold);
}

int
tsem_acquire_wait(tsem *sem, uint32_t count, const struct tsem_wait *wait, tsem_hold *hold)
{
	return acquire_in_line(sem, count, queue_options(wait), hold);
}

int
tsem_acquire(tsem *sem, uint32_t count, const struct timespec *deadline, tsem_hold *hold)
{
	struct record *record = acquire_at_once(sem, count, hold);
	return record != NULL ? stamp(record) : acquire_until(sem, count, deadline, hold);
}

int
tsem_try_acquire(tsem *sem, uint32_t count, tsem_hold *hold)
{
	struct record *record = acquire_at_once(sem, count, hold);
	return record != NULL ? stamp(record) : acquire_or_fail(sem, count, hold);
}

/* ---- release ---- */

/* The state of a hold that is still what it was: HELD under its ticket. */
bool
hold_is_held(const struct record *record, uint64_t ticket, uint64_t *what)
{
	*what = LOAD_ACQ(&record->what);
	return what_state(*what) == STATE_HELD && what_value(*what) == ticket;
}

/* From RELEASING on, when the one look was not enough. */
static __attribute__((noinline)) int
release_the_long_way(struct tsem *sem, uint32_t index, uint64_t releasing)
{
	const struct claim claim = {.index = index, .record = &sem->segment.records[index], .who = identity_who()};
	struct grant grant;
	const enum move move = move_grant(sem, index, claim.record, releasing, &grant);
	if (move == MOVE_STUCK) {
		STORE_REL(&claim.record->what, what_next(releasing, STATE_HELD, what_value(releasing)));
		return -EBADMSG;
	}
	/* A plain store: a helper could only have written the same. */
	if (move == MOVE_DONE)
		STORE_REL(&claim.record->what, what_released(claim.record, releasing));
	record_keep_or_free(sem, &claim);
	after_grant(sem, &grant);
	return 0;
}

/* The end of a release whose record has to be freed, or in which others take part. */
static __attribute__((noinline)) int
after_release(struct tsem *sem, uint32_t index, uint64_t grants)
{
	const struct claim claim = {.index = index, .record = &sem->segment.records[index], .who = identity_who()};
	const uint32_t count = LOAD_RLX(&claim.record->count);
	record_keep_or_free(sem, &claim);
	return after_move(sem, grants, count);
}

/* `hold` is `who`'s, who is the calling process. */
static inline __attribute__((always_inline)) int
release_own(const struct hold *hold, uint64_t who)
{
	struct tsem *sem = hold_sem(hold);
	struct header *header = sem->segment.header;
	const uint32_t index = (uint32_t)hold->record;
	struct record *record = &sem->segment.records[index];
	uint64_t what;
	if (LOAD_RLX(&record->who) != who || !hold_is_held(record, hold->ticket, &what))
		return -EPERM;

	/* A plain store: a live owner's own hold is nobody else's to change. */
	const uint64_t releasing = what_next(what, STATE_RELEASING, what_value(what));
	STORE_REL(&record->what, releasing);
	const uint64_t tickets = LOAD_RLX(&header->tickets);
	const uint32_t capacity = LOAD_RLX(&header->capacity);
	const uint32_t count = LOAD_RLX(&record->count);
	uint64_t grants;
	if (!move_grant_at_once(header, tag_make(index, what_b(releasing)), count, tickets, capacity, &grants))
		return release_the_long_way(sem, index, releasing);
	PROBE_AT_ONCE(post, sem);
	STORE_REL(&record->what, what_released(record, releasing));

	struct kept *entry = record_kept_entry(sem);
	if (entry == NULL || entry->who != 0 || !is_nobody_concerned(sem, tickets, capacity))
		return after_release(sem, index, grants);
	STORE_RLX(&entry->record, index);
	entry->who = LOAD_RLX(&record->who);
	return 0;
}

/* It may be void, or another process's, or this one does not know itself yet. */
static __attribute__((noinline)) int
release_or_fail(const struct hold *hold)
{
	const uint64_t who = hold->who;
	return who == 0 || who != identity_who() ? -EPERM : release_own(hold, who);
}

int
tsem_release(tsem_hold *out)
{
	const struct hold *hold = hold_inside(out);
	const uint64_t who = hold->who;
	return who != 0 && who == identity_who_cached() ? release_own(hold, who) : release_or_fail(hold);
}

/* ---- another owner ---- */

/* A start time that this process may compare: 0 if there is none to be had. -ESRCH: no such process. */
static int
find_process(pid_t pid, uint64_t *start)
{
	if (pid <= 0 || pid >= 1 << PID_BITS)
		return -ESRCH;
	/* Not kill(), which takes the number of any thread. */
	if (syscall(SYS_tgkill, pid, pid, 0) != 0 && errno == ESRCH)
		return -ESRCH;

	char text[12];
	struct process_stat stat;
	pid_to_text(pid, text);
	*start = 0;
	if (!proc_is_trustworthy() || !process_stat_read(text, &stat))
		return 0;
	if (stat.state == 'Z' && stat.threads == 1)
		return -ESRCH;
	/* Its start time as we read it means something as long as our time namespace exists, which its own outlives. */
	if (is_in_our_time_namespace(text))
		*start = stat.start & WHO_LOW_MASK;
	return 0;
}

int
tsem_hand_over(tsem_hold *out, pid_t pid)
{
	struct hold *hold = hold_inside(out);
	if (hold->who == 0 || hold->who != identity_who())
		return -EPERM;
	uint64_t start;
	int rc = find_process(pid, &start);
	if (rc < 0)
		return rc;
	struct tsem *sem = hold_sem(hold);
	struct record *record = &sem->segment.records[hold->record];
	uint64_t what;
	if (!hold_is_held(record, hold->ticket, &what))
		return -EPERM;

	/* The new owner does not hear of it, so the next holder has to: noted first, for this process may die in between. */
	if (hold->recovered != 0)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	/* The namespaces in the record stay: they are those in which this process knows the new owner's pid. */
	STORE_REL(&record->start, start);
	if (!CAS_SEQ(&record->who, hold->who, who_handed((uint32_t)pid, hold->ticket)))
		return -EPERM;
	ADD_RLX(&sem->segment.header->statistics.handed_over, 1);
	hold->who = 0;
	return 0;
}

/* The newest HELD record that was handed over to `pid`, and its owner and state; NO_RECORD if there is none. */
static uint32_t
find_handed(struct tsem *sem, pid_t pid, uint64_t start, const struct identity *self, uint64_t *who, uint64_t *what)
{
	uint32_t newest = NO_RECORD;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const uint64_t owner = LOAD_ACQ(&record->who);
		if (who_kind(owner) != WHO_KIND_HANDED || who_pid(owner) != (uint32_t)pid)
			continue;
		const uint64_t recorded = LOAD_ACQ(&record->start);
		const uint64_t state = LOAD_ACQ(&record->what);
		const bool comparable = recorded != 0 && start != 0 && LOAD_ACQ(&record->time_ns) == self->time_ns;
		if (what_state(state) != STATE_HELD || LOAD_ACQ(&record->pid_ns) != self->pid_ns
		    || (comparable && recorded != start))
			continue;
		if (newest != NO_RECORD && counter_diff(what_value(state), what_value(*what)) < 0)
			continue;
		newest = i;
		*who = owner;
		*what = state;
	}
	return newest;
}

/* From RELEASING to the end. */
static void
finish_foreign(struct tsem *sem, uint32_t index, uint64_t who, uint64_t releasing)
{
	struct record *record = &sem->segment.records[index];
	struct grant grant;
	if (release_for_owner(sem, index, record, releasing, &grant))
		record_free_for(sem, index, record, who);
	after_grant(sem, &grant);
}

/*
 * Releases a hold for an owner that is dead, or that it was handed over to: HELD -> RELEASING by CAS. From there on any
 * recoverer carries it on, should this process die. `who` cannot come back in this record.
 */
static bool
release_foreign(struct tsem *sem, uint32_t index, uint64_t who, uint64_t what)
{
	struct record *record = &sem->segment.records[index];
	const uint64_t releasing = what_next(what, STATE_RELEASING, what_value(what));
	if (!CAS_SEQ(&record->what, what, releasing))
		return false;
	finish_foreign(sem, index, who, releasing);
	return true;
}

int
tsem_release_for(tsem *sem, pid_t pid)
{
	struct identity self;
	if (!sem->segment.writable)
		return -EPERM;
	if (!identity_get(&self))
		return -ENOMEM;
	uint64_t start = 0;
	int rc = find_process(pid, &start);
	if (rc < 0)
		return rc;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		uint64_t who = 0;
		uint64_t what = 0;
		const uint32_t index = find_handed(sem, pid, start, &self, &who, &what);
		if (index == NO_RECORD)
			return -ENOENT;
		if (release_foreign(sem, index, who, what))
			return 0;
	}
	return -EBADMSG;
}

int
tsem_adopt(tsem_hold *out)
{
	struct hold *hold = hold_inside(out);
	struct identity self;
	int rc = identity_read(&self);
	if (rc < 0)
		return rc;
	struct tsem *sem = hold_sem(hold);
	if (hold->who == 0 || hold->who == self.who)
		return -EPERM;
	struct record *record = &sem->segment.records[hold->record];
	if (LOAD_ACQ(&record->pid_ns) != self.pid_ns || LOAD_ACQ(&record->time_ns) != self.time_ns)
		return -EXDEV;

	uint64_t what;
	if (!hold_is_held(record, hold->ticket, &what) || !CAS_SEQ(&record->who, hold->who, self.who))
		return -EPERM;
	/*
	 * The parent may have died before that, and a recoverer may know it: having looked at `who` for the last time, it
	 * is about to act on the state. So the state changes, too. If it was faster, the hold is lost; if not, it fails.
	 */
	if (CAS_SEQ(&record->what, what, what_adopted(what))) {
		STORE_REL(&record->use, USE_COMMAND);
		hold->who = self.who;
		return 0;
	}
	/* What the recoverer began it leaves to the new owner, who has to finish it. */
	const uint64_t releasing = what_next(what, STATE_RELEASING, hold->ticket);
	if (LOAD_ACQ(&record->what) == releasing)
		finish_foreign(sem, (uint32_t)hold->record, self.who, releasing);
	else
		record_free_for(sem, (uint32_t)hold->record, record, self.who);
	return -EPERM;
}

int
tsem_reap(tsem_hold *out, unsigned flags)
{
	if ((flags & ~TSEM_ABANDONED) != 0)
		return -EINVAL;
	struct hold *hold = hold_inside(out);
	if (hold->who == 0)
		return -EPERM;
	if (tsem_release(out) == 0)
		return 0;

	/* Not recovered but released: the command ended, and nobody died on anybody. */
	struct tsem *sem = hold_sem(hold);
	struct record *record = &sem->segment.records[hold->record];
	const uint64_t who = LOAD_ACQ(&record->who);
	const bool dead = who != 0 && owner_liveness(sem, record, who) == LIVENESS_DEAD;
	uint64_t what;
	if (hold_is_held(record, hold->ticket, &what)) {
		if (!dead)
			return -EBUSY;
		const bool abandoned = (flags & TSEM_ABANDONED) != 0;
		const uint32_t count = LOAD_ACQ(&record->count);
		if (abandoned)
			STORE_SEQ(&sem->segment.header->abandoned, 1);
		if (LOAD_SEQ(&record->who) == who && release_foreign(sem, (uint32_t)hold->record, who, what) && abandoned) {
			PROBE(recover, sem, hold->ticket, count);
			ADD_RLX(&sem->segment.header->statistics.recovered, count);
		}
	}
	hold->who = 0;
	return 0;
}

void
hold_return(tsem_hold *hold)
{
	if (tsem_hold_recovered(hold))
		STORE_SEQ(&hold_sem(hold_inside(hold))->segment.header->abandoned, 1);
	tsem_release(hold);
}

bool
tsem_hold_recovered(const tsem_hold *hold)
{
	return ((const struct hold *)(const void *)hold)->recovered != 0;
}
