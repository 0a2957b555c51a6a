/* SPDX-License-Identifier: MIT */
/* tsem_remove(): when a semaphore may be removed. tsem_unlink(). removal.h has the removal itself. */
#include <errno.h>

#include "cancellation.h"
#include "protocol/protocol.h"
#include "queue/queue.h"
#include "recovery/recover.h"
#include "recovery/removal.h"

/* ---- in use? ---- */

/*
 * Whether the record has a permit or a ticket. A CLAIMED one has a ticket only if T says so: cached records are
 * CLAIMED, too.
 */
static bool
has_ticket(struct tsem *sem, uint32_t index, const struct record *record)
{
	const uint64_t state = LOAD_SEQ(&record->state);
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (LOAD_ACQ(&record->owner) == 0 || state_kind(state) == STATE_IDLE)
		return false;
	return state_kind(state) != STATE_CLAIMED || is_last_arrival(tickets, index, state);
}

static size_t
count_users(struct tsem *sem)
{
	size_t n = 0;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record)
		n += has_ticket(sem, i, record);
	return n;
}

/* ---- seizing ---- */

/*
 * The places of a remover. Together they are for all permits, so no process can get one without a place behind them.
 * One place has at most UINT32_MAX permits, all have 2^38. Each that is given back costs a look at all others.
 */
enum { PLACES_MAX = 64 };

struct seizure {
	struct queue_place places[PLACES_MAX];
	size_t n;
};

static int
seize_some(struct tsem *sem, int64_t wanted, enum arrival how, struct seizure *seizure)
{
	if (seizure->n == PLACES_MAX)
		return -EOVERFLOW;
	struct queue_place *place = &seizure->places[seizure->n];
	const uint32_t count = wanted < (int64_t)UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
	*place = queue_request(sem, count, USE_HOLD, &queue_for_ever);
	int rc = how == ARRIVE_IF_ENABLED ? queue_try_enter(place) : queue_claim(place);
	if (rc == 0 && how == ARRIVE_IN_LINE)
		rc = queue_take_ticket(place, how);
	if (rc < 0)
		return rc;
	queue_mark_queued(place);
	seizure->n++;
	return 0;
}

/*
 * This process, or another one that died, may have unlinked the file: the mark comes before the permits, as in
 * begin_release().
 */
static void
give_back(struct tsem *sem, struct seizure *seizure)
{
	removal_notice(sem);
	while (seizure->n > 0)
		queue_leave(&seizure->places[--seizure->n]);
}

static int64_t
all_permits(const struct tsem *sem)
{
	const int64_t capacity = LOAD_SEQ(&sem->segment.header->capacity);
	const int64_t available = available_permits(sem);
	return available > capacity ? available : capacity;
}

/*
 * Takes the whole capacity, and what was posted beyond it; after that no other record may have a permit. If there is no
 * permit to take, it takes a place in the queue, which a post comes to first. -EBUSY. -EOVERFLOW: far more was posted
 * than any use needs.
 */
static int
seize(struct tsem *sem, struct seizure *seizure)
{
	int64_t wanted = all_permits(sem);
	int rc;
	if (wanted > 0) {
		rc = seize_some(sem, wanted, ARRIVE_IF_ENABLED, seizure);
	} else {
		recover_all(sem, NULL);
		rc = available_permits(sem) < 0 || count_users(sem) > 0 ? -EBUSY : seize_some(sem, 1, ARRIVE_IN_LINE, seizure);
	}
	while (rc == 0 && (wanted = available_permits(sem)) > 0)
		rc = seize_some(sem, wanted, ARRIVE_IF_ENABLED, seizure);
	if (rc == 0 && count_users(sem) > seizure->n)
		rc = -EBUSY;
	return rc == -EAGAIN ? -EBUSY : rc;
}

/*
 * With force: waits in the queue for as many permits, behind all others, so that the death of this process is noticed
 * as that of any remover. If there is no record for that, the name is removed all the same.
 */
static void
line_up(struct tsem *sem, struct seizure *seizure)
{
	int64_t wanted = all_permits(sem);
	wanted = wanted > 0 ? wanted : 1;
	while (wanted > 0 && seize_some(sem, wanted, ARRIVE_IN_LINE, seizure) == 0)
		wanted = available_permits(sem);
}

/* ---- removing ---- */

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
		rc = removal_unlink(name, sem, false);
	give_back(sem, &seizure);
	return rc;
}

static bool
is_no_semaphore(int rc)
{
	return rc == -EBADMSG || rc == -EPROTONOSUPPORT || rc == -EMLINK;
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
		rc = removal_unlink_leftover(name, flags);
		return rc == -ENOENT ? 0 : rc;
	}
	if (is_no_semaphore(rc) && (flags & TSEM_FORCE) != 0)
		return segment_unlink(name, seen.st_dev, seen.st_ino);
	if (rc < 0)
		return rc;
	rc = remove_opened(name, sem, flags);
	tsem_close(sem);
	return rc;
}

int
tsem_unlink(const char *name, unsigned flags)
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
	if (rc == -EIDRM)
		return removal_unlink_leftover(name, flags);
	/* The directory decides which process may delete the file, and not the file's mode. */
	if (rc == -EACCES && segment_unlink(name, seen.st_dev, seen.st_ino) == 0)
		return 0;
	if (is_no_semaphore(rc) && (flags & TSEM_FORCE) != 0)
		return segment_unlink(name, seen.st_dev, seen.st_ino);
	if (rc < 0)
		return rc;
	rc = removal_unlink(name, sem, true);
	tsem_close(sem);
	return rc;
}
