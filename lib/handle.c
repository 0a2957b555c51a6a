/* SPDX-License-Identifier: MIT */
/* Handles: create, open, close; and removing a semaphore. */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "identity.h"
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

static struct tsem *
allocate_handle(void)
{
	return identity_who() == 0 ? NULL : calloc(1, sizeof(struct tsem));
}

int
tsem_open(const char *name, unsigned flags, tsem **out)
{
	if ((flags & ~(TSEM_FOREIGN | TSEM_READ_ONLY)) != 0)
		return -EINVAL;
	struct tsem *sem = allocate_handle();
	if (sem == NULL)
		return -ENOMEM;

	unsigned how = (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0;
	how |= (flags & TSEM_READ_ONLY) != 0 ? SEGMENT_READ_ONLY : 0;
	int rc = segment_attach(name, how, &sem->segment);
	if (rc < 0) {
		free(sem);
		return rc;
	}
	fill_handle(sem);
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
	struct tsem *sem = allocate_handle();
	if (sem == NULL)
		return -ENOMEM;
	int rc = segment_create(name, &how, &sem->segment);
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

/* Nobody has a permit or a place after this, and nobody can get one: what was available is ours. */
static int
seize(struct tsem *sem, tsem_hold *hold)
{
	const uint32_t capacity = LOAD_SEQ(&sem->segment.header->capacity);
	if (capacity > 0) {
		int rc = tsem_try_acquire(sem, capacity, hold);
		return rc == -EAGAIN ? -EBUSY : rc;
	}
	struct tsem_stat stat = {.size = sizeof(stat)};
	int rc = tsem_stat(sem, &stat);
	if (rc == 0 && (stat.held > 0 || stat.waiting > 0))
		rc = -EBUSY;
	return rc;
}

int
tsem_remove(const char *name, unsigned flags)
{
	if ((flags & ~(TSEM_FORCE | TSEM_FOREIGN)) != 0)
		return -EINVAL;
	struct tsem *sem;
	int rc = tsem_open(name, flags & TSEM_FOREIGN, &sem);
	if ((rc == -EBADMSG || rc == -EPROTONOSUPPORT) && (flags & TSEM_FORCE) != 0)
		return segment_unlink_any(name);
	if (rc < 0)
		return rc;

	tsem_hold hold = {{0}};
	if ((flags & TSEM_FORCE) == 0)
		rc = seize(sem, &hold);
	if (rc == 0) {
		rc = segment_unlink(name, &sem->segment);
		if (rc == 0) {
			/* Without capacity every arrival takes the slow road, where it sees the flag. */
			STORE_SEQ(&sem->segment.header->removed, 1);
			STORE_SEQ(&sem->segment.header->capacity, 0);
			wake_everybody(sem);
		} else {
			tsem_release(&hold);
		}
	}
	tsem_close(sem);
	return rc;
}
