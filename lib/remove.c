/* SPDX-License-Identifier: MIT */
/* Removing a semaphore. */
#include "remove.h"

#include <errno.h>
#include <stdlib.h>

#include "cancellation.h"
#include "platform.h"
#include "protocol.h"
#include "queue.h"
#include "recover.h"
#include "wait.h"

/* ---- names ---- */

/*
 * Between the look at what a name leads to and unlink() a process may be stopped for any time. Meanwhile no other one may
 * remove the name, or it could be given to a new semaphore, and unlink() would take that one's. So there is a right to
 * unlink, which one process at a time has, until it gives the right back or is certainly dead. Only who may write to the
 * segment can take it.
 */
static bool
begin_unlinking(struct tsem *sem)
{
	struct record *right = &sem->segment.header->remover;
	const uint64_t owner = LOAD_ACQ(&right->owner);
	return (owner == 0 || owner_liveness(sem, right, owner) == LIVENESS_DEAD) && record_take_over(sem, right, owner);
}

static void
sleep_for(uint64_t ns)
{
	static _Atomic uint32_t never;
	const uint64_t until = platform.now() + ns;
	while (platform.sleep(&never, 0, UINT32_MAX, until) == -EINTR)
		continue;
}

/* Removes the name if it leads to this segment, and marks the segment as removed. -EBUSY: another remover does not end. */
static int
unlink_alone(const char *name, struct tsem *sem)
{
	enum { SLEEPS = 10 }; /* a second in all */
	for (int i = 0; !begin_unlinking(sem); i++) {
		if (i == SLEEPS)
			return -EBUSY;
		sleep_for(NS_PER_MS << i);
	}
	int rc = segment_unlink(name, &sem->segment);
	if (rc == 0)
		removal_mark(sem);
	STORE_REL(&sem->segment.header->remover.owner, 0);
	return rc;
}

int
remove_leftover(const char *name, unsigned flags)
{
	struct tsem sem = {.permits = 0};
	int rc = segment_attach(name, (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0, &sem.segment);
	if (rc < 0)
		return rc;
	if (LOAD_ACQ(&sem.segment.header->removed) != 0)
		rc = unlink_alone(name, &sem);
	segment_detach(&sem.segment);
	return rc == 0 ? -ENOENT : rc;
}

/* ---- in use? ---- */

/* Whether this one has a permit or a place in line. CLAIMED it does if T says so: they are kept like that, too. */
static bool
has_ticket(struct tsem *sem, uint32_t index, const struct record *record)
{
	const uint64_t state = LOAD_SEQ(&record->state);
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (LOAD_ACQ(&record->owner) == 0 || state_kind(state) == STATE_IDLE)
		return false;
	return state_kind(state) != STATE_CLAIMED || is_last_arrival(tickets, index, state);
}

/* How many records have a permit or a place in line. */
static size_t
count_users(struct tsem *sem)
{
	size_t n = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++)
		n += has_ticket(sem, i, record);
	return n;
}

/* ---- seizing ---- */

/*
 * The places in line of a remover: together they are for all permits there are, so no process can get one any more
 * without a place behind them. One place has at most UINT32_MAX permits.
 */
struct seizure {
	struct queue_place *places;
	size_t n;
};

enum { PLACES_MAX = 64 }; /* 2^38 permits, in no time: each place that is given back costs a look at all others */
enum how { IF_ENABLED, IN_LINE };

static int
seize_some(struct tsem *sem, int64_t wanted, enum how how, struct seizure *seizure)
{
	if (seizure->n == PLACES_MAX)
		return -EOVERFLOW;
	struct queue_place *places = realloc(seizure->places, (seizure->n + 1) * sizeof(*places));
	if (places == NULL)
		return -ENOMEM;
	seizure->places = places;
	struct queue_place *place = &places[seizure->n];
	const uint32_t count = wanted < (int64_t)UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
	int rc = how == IF_ENABLED ? queue_try_enter(sem, count, USE_HOLD, place)
	                           : queue_join_at_once(sem, count, USE_HOLD, queue_options(NULL), place);
	if (rc < 0)
		return rc;
	queue_mark_queued(place);
	seizure->n++;
	return 0;
}

/* The file may have been unlinked by this process or by another one that died: the mark comes first, see begin_release(). */
static void
give_back(struct tsem *sem, struct seizure *seizure)
{
	removal_notice(sem);
	while (seizure->n > 0)
		queue_leave(sem, &seizure->places[--seizure->n]);
}

static int64_t
all_permits(const struct tsem *sem)
{
	const int64_t capacity = LOAD_SEQ(&sem->segment.header->capacity);
	const int64_t spare = spare_permits(sem);
	return spare > capacity ? spare : capacity;
}

/*
 * Takes the whole capacity, and what was posted beyond it; and then no other record may have a permit. Where there is none
 * to take, it is a place in line, which a post comes to first. -EBUSY. -EOVERFLOW: far more was posted than any use needs.
 */
static int
seize(struct tsem *sem, struct seizure *seizure)
{
	int64_t wanted = all_permits(sem);
	int rc;
	if (wanted > 0) {
		rc = seize_some(sem, wanted, IF_ENABLED, seizure);
	} else {
		recover_all(sem, NULL);
		rc = spare_permits(sem) < 0 || count_users(sem) > 0 ? -EBUSY : seize_some(sem, 1, IN_LINE, seizure);
	}
	while (rc == 0 && (wanted = spare_permits(sem)) > 0)
		rc = seize_some(sem, wanted, IF_ENABLED, seizure);
	if (rc == 0 && count_users(sem) > seizure->n)
		rc = -EBUSY;
	return rc == -EAGAIN ? -EBUSY : rc;
}

/*
 * By force: stands in line for as much, behind whom there is, so that the death of this process is noticed as that of any
 * remover. Where there is no record or no memory for that, the name is removed all the same.
 */
static void
line_up(struct tsem *sem, struct seizure *seizure)
{
	int64_t wanted = all_permits(sem);
	wanted = wanted > 0 ? wanted : 1;
	while (wanted > 0 && seize_some(sem, wanted, IN_LINE, seizure) == 0)
		wanted = spare_permits(sem);
}

static int
remove_opened(const char *name, struct tsem *sem, unsigned flags)
{
	struct seizure seizure = {.n = 0};
	int rc = 0;
	if ((flags & TSEM_FORCE) != 0)
		line_up(sem, &seizure);
	else
		rc = seize(sem, &seizure);
	if (rc == 0)
		rc = unlink_alone(name, sem);
	give_back(sem, &seizure);
	free(seizure.places);
	return rc;
}

int
tsem_remove(const char *name, unsigned flags)
{
	NO_CANCELLATION;
	if ((flags & ~(TSEM_FORCE | TSEM_FOREIGN)) != 0)
		return -EINVAL;
	struct tsem *sem;
	struct stat seen;
	int rc = segment_lstat(name, &seen);
	if (rc < 0)
		return rc;
	rc = tsem_open(name, flags & TSEM_FOREIGN, &sem);
	if (rc == -EIDRM) {
		rc = remove_leftover(name, flags);
		return rc == -ENOENT ? 0 : rc;
	}
	if ((rc == -EBADMSG || rc == -EPROTONOSUPPORT || rc == -EMLINK) && (flags & TSEM_FORCE) != 0)
		return segment_unlink_any(name, &seen);
	if (rc < 0)
		return rc;
	rc = remove_opened(name, sem, flags);
	tsem_close(sem);
	return rc;
}
