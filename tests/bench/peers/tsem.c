/* SPDX-License-Identifier: MIT */
/* tsem through its shared library, as a program that links with -ltsem: the anonymous pair and the owned one. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"
#include "support.h"

struct named {
	tsem *handle;
	char name[48];
};

static void
check(int rc, const char *what)
{
	if (rc < 0) {
		errno = -rc;
		die(what);
	}
}

static void *
tsem_peer_create(unsigned permits)
{
	static unsigned turn;
	struct named *named = shared_memory(sizeof(*named));
	const struct tsem_config config = {.size = sizeof(config), .permits = permits > 0 ? permits : 1};
	snprintf(named->name, sizeof(named->name), "bench-%ld-%u", (long)getpid(), turn++);
	check(tsem_create(named->name, &config, &named->handle), "tsem_create");
	if (permits == 0)
		check(tsem_take(named->handle, 1, NULL), "tsem_take");
	return named;
}

static void
tsem_peer_destroy(void *semaphore)
{
	struct named *named = semaphore;
	tsem_close(named->handle);
	check(tsem_remove(named->name, TSEM_FORCE), "tsem_remove");
	munmap(named, sizeof(*named));
}

static inline void
anonymous_take(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	check(tsem_take(((struct named *)semaphore)->handle, 1, NULL), "tsem_take");
}

static inline void
anonymous_give(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	check(tsem_post(((struct named *)semaphore)->handle, 1, NULL), "tsem_post");
}

static void
anonymous_give_many(void *semaphore, unsigned count)
{
	check(tsem_post(((struct named *)semaphore)->handle, count, NULL), "tsem_post");
}

static inline void
owned_take(void *semaphore, tsem_hold *hold)
{
	check(tsem_acquire(((struct named *)semaphore)->handle, 1, NULL, hold), "tsem_acquire");
}

static inline void
owned_give(void *semaphore, tsem_hold *hold)
{
	(void)semaphore;
	check(tsem_release(hold), "tsem_release");
}

/* The memory that the file system has allocated so far: it grows with use. */
static size_t
tsem_peer_bytes(void *semaphore)
{
	char path[80];
	struct stat status;
	snprintf(path, sizeof(path), "/dev/shm/tsem.%s", ((struct named *)semaphore)->name);
	if (stat(path, &status) != 0)
		die(path);
	return (size_t)status.st_blocks * 512;
}

const char *
tsem_peer_name(const void *semaphore)
{
	return ((const struct named *)semaphore)->name;
}

uint64_t
tsem_peer_arrivals(void *semaphore)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	check(tsem_stat(((struct named *)semaphore)->handle, &stat), "tsem_stat");
	return stat.ticket;
}

DEFINE_PAIRS(anonymous)
DEFINE_PAIRS(owned)

const struct peer peer_tsem = {
	.name = "tsem",
	.traits = LOOKS,
	.create = tsem_peer_create,
	.destroy = tsem_peer_destroy,
	.take = anonymous_take,
	.give = anonymous_give,
	.give_many = anonymous_give_many,
	.bytes = tsem_peer_bytes,
	.pairs = anonymous_pairs,
};

const struct peer peer_tsem_owned = {
	.name = "tsem-owned",
	.traits = LOCK | RECOVERS | LOOKS,
	.create = tsem_peer_create,
	.destroy = tsem_peer_destroy,
	.take = owned_take,
	.give = owned_give,
	.bytes = tsem_peer_bytes,
	.pairs = owned_pairs,
};
