/* SPDX-License-Identifier: MIT */
/* Removing a semaphore. */
#include "remove.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cancellation.h"
#include "hold.h"
#include "protocol.h"
#include "recover.h"
#include "wait.h"

/* ---- names ---- */

/*
 * Removes the name if it leads to this segment. Two removers and a creator between them must not cost the creator its
 * semaphore, so the look and the deed are one for all who remove this segment. Whoever holds the lock for long has no
 * business with it, and is not waited for.
 */
static int
unlink_locked(const char *name, const struct segment *segment)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	for (int i = 0; i < 1000 && flock(segment->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; i++)
		nanosleep(&pause, NULL);
	int rc = segment_unlink(name, segment);
	flock(segment->fd, LOCK_UN);
	return rc;
}

int
remove_leftover(const char *name, unsigned flags)
{
	struct segment segment;
	int rc = segment_attach(name, (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0, &segment);
	if (rc < 0)
		return rc;
	if (LOAD_ACQ(&segment.header->removed) != 0)
		rc = unlink_locked(name, &segment);
	segment_detach(&segment);
	return rc == 0 ? -ENOENT : rc;
}

/* ---- in use? ---- */

/* Whether this one has a permit or a place in line. CLAIMED it does if T says so: they are kept like that, too. */
static bool
has_ticket(struct tsem *sem, uint32_t index, const struct record *record)
{
	const uint64_t what = LOAD_SEQ(&record->what);
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (LOAD_ACQ(&record->who) == 0 || what_state(what) == STATE_IDLE)
		return false;
	return what_state(what) != STATE_CLAIMED || is_last_arrival(tickets, index, what);
}

/* Some record other than `own` has a permit or a place in line. */
static bool
is_in_use(struct tsem *sem, uint64_t own)
{
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (i != own && has_ticket(sem, i, record))
			return true;
	}
	return false;
}

/*
 * Takes the whole capacity, and what was posted beyond it, so that nobody can get a permit any more without a place in
 * line; and then nobody else may have one. -EBUSY.
 */
static int
seize(struct tsem *sem, tsem_hold *hold)
{
	const uint32_t capacity = LOAD_SEQ(&sem->segment.header->capacity);
	const int64_t spare = spare_permits(sem);
	const int64_t all = spare > (int64_t)capacity ? spare : (int64_t)capacity;
	if (all > (int64_t)UINT32_MAX)
		return -EBUSY;
	if (all == 0) { /* then there is nothing that anybody could get */
		recover_all(sem, NULL);
		return spare_permits(sem) < 0 || is_in_use(sem, NO_RECORD) ? -EBUSY : 0;
	}

	int rc = hold_try_any(sem, (uint32_t)all, hold);
	if (rc < 0)
		return rc == -EAGAIN ? -EBUSY : rc;
	if (!is_in_use(sem, hold_inside(hold)->record))
		return 0;
	hold_return(hold);
	return -EBUSY;
}

static int
remove_opened(const char *name, struct tsem *sem, unsigned flags)
{
	tsem_hold hold = {{0}};
	int rc = (flags & TSEM_FORCE) != 0 ? 0 : seize(sem, &hold);
	if (rc < 0)
		return rc;
	rc = unlink_locked(name, &sem->segment);
	if (rc == 0)
		mark_removed(sem);
	else
		hold_return(&hold); /* nothing happens where nothing was seized */
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
