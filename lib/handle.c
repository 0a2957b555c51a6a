/* SPDX-License-Identifier: MIT */
/* Handles: create, open, close; and removing a semaphore. */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "hold.h"
#include "identity.h"
#include "protocol.h"
#include "record.h"
#include "wait.h"

#define MODE_DEFAULT 0600

uint32_t
spin_ceiling(void)
{
	static _Atomic uint32_t ceiling = UINT32_MAX;
	uint32_t known = LOAD_RLX(&ceiling);
	if (known == UINT32_MAX) {
		known = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPIN_MAX : 0;
		STORE_RLX(&ceiling, known);
	}
	return known;
}

/* A handle around an attached segment, whose descriptor and mapping it owns from here on. */
static void
fill_handle(struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	memcpy(sem->uuid, header->uuid, sizeof(sem->uuid));
	memcpy(&sem->salt, sem->uuid, sizeof(sem->salt));
	sem->permits = header->permits;
	sem->max = header->max;
	STORE_RLX(&sem->spin, spin_ceiling());
}

static int
allocate_handle(struct tsem **sem)
{
	int rc = identity_prepare();
	if (rc < 0)
		return rc;
	*sem = calloc(1, sizeof(struct tsem));
	return *sem == NULL ? -ENOMEM : 0;
}

int
tsem_open(const char *name, unsigned flags, tsem **out)
{
	if ((flags & ~(TSEM_FOREIGN | TSEM_READ_ONLY)) != 0)
		return -EINVAL;
	struct tsem *sem;
	int rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;

	unsigned how = (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0;
	how |= (flags & TSEM_READ_ONLY) != 0 ? SEGMENT_READ_ONLY : 0;
	rc = segment_attach(name, how, &sem->segment);
	if (rc < 0) {
		free(sem);
		return rc;
	}
	fill_handle(sem);
	if (LOAD_ACQ(&sem->segment.header->removed) != 0) { /* its name is about to go, or somebody has brought it back */
		tsem_close(sem);
		return -EIDRM;
	}
	*out = sem;
	return 0;
}

void
tsem_close(tsem *sem)
{
	if (sem == NULL)
		return;
	record_free_kept(sem);
	segment_detach(&sem->segment);
	free(sem);
}

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

/* A segment that was removed, and whose name is still or again there, is nobody's any more. -ENOENT: the name is free. */
static int
unlink_removed(const char *name, unsigned flags)
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

/* ---- create ---- */

static int
check_config(const struct tsem_config *config)
{
	if (config->size != sizeof(*config) || config->permits == 0 || (config->max != 0 && config->max < config->permits)
	    || (config->mode & ~(mode_t)0777) != 0 || (config->flags & ~(TSEM_EXIST_OK | TSEM_FOREIGN)) != 0)
		return -EINVAL;
	return 0;
}

static int
create_new(const char *name, const struct tsem_config *config, struct tsem **out)
{
	const struct segment_config how = {
		.permits = config->permits,
		.max = config->max,
		.mode = config->mode == 0 ? MODE_DEFAULT : config->mode,
	};
	struct tsem *sem;
	int rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;
	rc = segment_create(name, &how, &sem->segment);
	if (rc < 0) {
		free(sem);
		return rc;
	}
	fill_handle(sem);
	*out = sem;
	return 0;
}

static int
open_same(const char *name, const struct tsem_config *config, struct tsem **out)
{
	int rc = tsem_open(name, config->flags & TSEM_FOREIGN, out);
	if (rc == 0 && (*out)->permits != config->permits) {
		tsem_close(*out);
		rc = -EEXIST;
	}
	return rc;
}

int
tsem_create(const char *name, const struct tsem_config *config, tsem **out)
{
	enum { TRIES = 100 }; /* somebody may remove the name whenever we find that it exists */
	int rc = check_config(config);
	if (rc < 0)
		return rc;
	struct tsem *sem = NULL;
	for (int i = 0; i < TRIES; i++) {
		/* The cheaper look first: with TSEM_EXIST_OK it mostly does exist. */
		if ((config->flags & TSEM_EXIST_OK) != 0) {
			rc = open_same(name, config, &sem);
			if (rc == -EIDRM)
				rc = unlink_removed(name, config->flags & TSEM_FOREIGN);
			if (rc != -ENOENT)
				break;
		}
		rc = create_new(name, config, &sem);
		if (rc != -EEXIST || (config->flags & TSEM_EXIST_OK) == 0)
			break;
	}
	if (rc < 0)
		return rc;
	if (out == NULL)
		tsem_close(sem);
	else
		*out = sem;
	return 0;
}

/* ---- remove ---- */

/* Some record other than `own` has a permit or a place in line, or is about to get one. */
static bool
is_in_use(struct tsem *sem, uint64_t own)
{
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		if (i != own && LOAD_ACQ(&record->who) != 0 && what_state(LOAD_SEQ(&record->what)) != STATE_IDLE)
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
	const int64_t room = counter_diff(enabled_limit(sem), word_counter(LOAD_SEQ(&sem->segment.header->tickets)));
	const int64_t all = room > (int64_t)capacity ? room : (int64_t)capacity;
	uint64_t own = NO_RECORD;
	if (all > (int64_t)UINT32_MAX)
		return -EBUSY;
	if (all > 0) {
		int rc = hold_try_any(sem, (uint32_t)all, hold);
		if (rc < 0)
			return rc == -EAGAIN ? -EBUSY : rc;
		own = ((const struct hold *)(const void *)hold)->record;
	}
	if (!is_in_use(sem, own))
		return 0;
	tsem_release(hold);
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
		tsem_release(&hold); /* EPERM where nothing was seized */
	return rc;
}

int
tsem_remove(const char *name, unsigned flags)
{
	if ((flags & ~(TSEM_FORCE | TSEM_FOREIGN)) != 0)
		return -EINVAL;
	struct tsem *sem;
	int rc = tsem_open(name, flags & TSEM_FOREIGN, &sem);
	if (rc == -EIDRM) {
		rc = unlink_removed(name, flags);
		return rc == -ENOENT ? 0 : rc;
	}
	if ((rc == -EBADMSG || rc == -EPROTONOSUPPORT) && (flags & TSEM_FORCE) != 0)
		return segment_unlink_any(name);
	if (rc < 0)
		return rc;
	rc = remove_opened(name, sem, flags);
	tsem_close(sem);
	return rc;
}
