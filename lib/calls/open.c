/* SPDX-License-Identifier: MIT */
/* Creating, opening and closing handles, and the permissions of a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cancellation.h"
#include "protocol/fast.h"
#include "queue/wait.h"
#include "records/presence.h"
#include "records/record.h"
#include "recovery/removal.h"
#include "system/extensible.h"
#include "system/identity.h"
#include "system/process_mutex.h"

#define MODE_DEFAULT 0600

static void
free_handle(struct tsem *sem)
{
	cache_free(sem);
	free(sem);
}

/*
 * Ends every way to a handle. `rc`: the result of attaching the segment. The handle owns its descriptor and mapping
 * from here on.
 */
static int
finish_handle(struct tsem *sem, const char *name, unsigned flags, int rc, struct tsem **out)
{
	if (rc < 0) {
		free_handle(sem);
		return rc;
	}
	const struct header *header = sem->segment.header;
	strcpy(sem->name, name);
	memcpy(sem->uuid, header->uuid, sizeof(sem->uuid));
	memcpy(&sem->hash_salt, sem->uuid, sizeof(sem->hash_salt));
	sem->permits = header->permits;
	sem->max = header->max;
	sem->bounded = header->bounded != 0;
	sem->fast_post_max = sem->segment.writable && sem->max == 0 && !sem->bounded ? FAST_POST_MAX : 0;
	STORE_RLX(&sem->spin, wait_spin_ceiling());
	if ((flags & TSEM_NO_DESCRIPTOR) != 0)
		segment_close_descriptor(&sem->segment);
	*out = sem;
	return 0;
}

static int
allocate_handle(struct tsem **sem)
{
	struct identity self;
	process_mutex_mind_forks();
	int rc = identity_get(&self); /* which fills its cache */
	if (rc < 0)
		return rc;
	*sem = aligned_alloc(_Alignof(struct tsem), sizeof(struct tsem));
	if (*sem == NULL)
		return -ENOMEM;
	memset(*sem, 0, sizeof(struct tsem));
	if (!cache_allocate(*sem)) {
		free(*sem);
		return -ENOMEM;
	}
	return 0;
}

int
tsem_open(const char *name, unsigned flags, tsem **out)
{
	NO_CANCELLATION;
	if ((flags & ~(TSEM_FOREIGN | TSEM_READ_ONLY | TSEM_NO_DESCRIPTOR)) != 0)
		return -EINVAL;
	struct tsem *sem;
	int rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;

	unsigned how = (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0;
	how |= (flags & TSEM_READ_ONLY) != 0 ? SEGMENT_READ_ONLY : 0;
	rc = finish_handle(sem, name, flags, segment_attach(name, how, &sem->segment), &sem);
	if (rc < 0)
		return rc;
	if (LOAD_ACQ(&sem->segment.header->removed) != 0) { /* the name has gone meanwhile, or was restored */
		tsem_close(sem);
		return -EIDRM;
	}
	*out = sem;
	return 0;
}

void
tsem_close(tsem *sem)
{
	NO_CANCELLATION;
	if (sem == NULL)
		return;
	record_free_cached(sem);
	presence_close(sem);
	segment_detach(&sem->segment);
	free_handle(sem);
}

/* ---- create ---- */

/* Whether takes and posts can lead to `available`. A program that was compiled for an earlier version cannot give it. */
static bool
is_reachable(const struct tsem_config *config)
{
	uint64_t most = config->max != 0 ? config->max : UINT32_MAX;
	if ((config->flags & TSEM_BOUNDED) != 0)
		most = config->permits;
	if ((config->flags & TSEM_INITIAL) == 0)
		return config->available == 0;
	return config->size >= SIZE_UP_TO(struct tsem_config, available) && config->available <= most;
}

static int
read_config(const struct tsem_config *theirs, struct tsem_config *config)
{
	int rc = extensible_read(config, sizeof(*config), SIZE_UP_TO(struct tsem_config, flags), theirs);
	if (rc < 0)
		return rc;
	const unsigned known =
		TSEM_EXIST_OK | TSEM_FOREIGN | TSEM_BOUNDED | TSEM_GROUP | TSEM_INITIAL | TSEM_UMASK | TSEM_NO_DESCRIPTOR;
	if ((config->max != 0 && config->max < config->permits) || (config->mode & ~(mode_t)0777) != 0
	    || (config->flags & ~known) != 0 || !is_reachable(config))
		return -EINVAL;
	return 0;
}

static struct segment_config
segment_config_of(const struct tsem_config *config)
{
	const bool umask = (config->flags & TSEM_UMASK) != 0;
	return (struct segment_config){
		.permits = config->permits,
		.max = config->max,
		.bounded = (config->flags & TSEM_BOUNDED) != 0,
		.mode = config->mode == 0 && !umask ? MODE_DEFAULT : config->mode,
		.umask = umask,
		.has_group = (config->flags & TSEM_GROUP) != 0,
		.group = config->group,
		.has_available = (config->flags & TSEM_INITIAL) != 0,
		.available = config->available,
	};
}

static int
create_new(const char *name, const struct tsem_config *config, struct tsem **out)
{
	const struct segment_config how = segment_config_of(config);
	struct tsem *sem;
	int rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;
	return finish_handle(sem, name, config->flags, segment_create(name, &how, &sem->segment), out);
}

/* A drained semaphore, whose capacity is 0, accepts only the creator's number. */
static bool
accepts(const struct tsem *sem, uint32_t permits)
{
	return permits == sem->permits || (permits != 0 && permits == LOAD_ACQ(&sem->segment.header->capacity));
}

static int
open_same(const char *name, const struct tsem_config *config, struct tsem **out)
{
	tsem *sem;
	int rc = tsem_open(name, config->flags & (TSEM_FOREIGN | TSEM_NO_DESCRIPTOR), &sem);
	if (rc < 0)
		return rc;
	if (accepts(sem, config->permits)) {
		*out = sem;
		return 0;
	}
	/* A removal, too, makes the capacity 0: then the name may be free by now. */
	rc = removal_is_marked(sem) ? -EIDRM : -EEXIST;
	tsem_close(sem);
	return rc;
}

int
tsem_create(const char *name, const struct tsem_config *theirs, tsem **out)
{
	NO_CANCELLATION;
	enum { TRIES = 100 }; /* another process may remove the name each time after this one has found that it exists */
	struct tsem_config config;
	int rc = read_config(theirs, &config);
	if (rc < 0)
		return rc;
	struct tsem *sem = NULL;
	for (int i = 0; i < TRIES; i++) {
		/* The cheaper look first: with TSEM_EXIST_OK the semaphore mostly does exist. */
		if ((config.flags & TSEM_EXIST_OK) != 0) {
			rc = open_same(name, &config, &sem);
			if (rc == -EIDRM)
				rc = removal_unlink_leftover(name, config.flags & TSEM_FOREIGN);
			if (rc != -ENOENT)
				break;
		}
		rc = create_new(name, &config, &sem);
		if (rc != -EEXIST || (config.flags & TSEM_EXIST_OK) == 0)
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

/* ---- permissions ---- */

int
tsem_set_access(tsem *sem, mode_t mode, gid_t group)
{
	NO_CANCELLATION;
	return (mode & ~(mode_t)0777) != 0 ? -EINVAL : segment_set_access(&sem->segment, mode, group);
}

/* ---- in the program's own memory ---- */

size_t
tsem_size_at(uint32_t participants)
{
	/* Idle threads may keep as many cached records as participants use. */
	const size_t records = participants < RECORDS_MAX / 2 ? (size_t)participants * 2 : RECORDS_MAX;
	return RECORDS_OFFSET + (records > 0 ? records : 2) * sizeof(struct record);
}

int
tsem_init_at(void *memory, size_t size, const struct tsem_config *theirs, tsem **out)
{
	NO_CANCELLATION;
	struct tsem_config config;
	int rc = read_config(theirs, &config);
	if (rc < 0 || (config.flags & ~(TSEM_BOUNDED | TSEM_INITIAL)) != 0 || config.mode != 0)
		return -EINVAL;
	const struct segment_config how = segment_config_of(&config);
	struct tsem *sem;
	rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;
	return finish_handle(sem, "", 0, segment_create_at(memory, size, &how, &sem->segment), out);
}

int
tsem_open_at(void *memory, size_t size, tsem **out)
{
	struct tsem *sem;
	int rc = allocate_handle(&sem);
	if (rc < 0)
		return rc;
	return finish_handle(sem, "", 0, segment_attach_at(memory, size, &sem->segment), out);
}
