/* SPDX-License-Identifier: MIT */
/* sem_t of the C library, shared between processes: no order, and permits of killed processes are lost. */
#include <semaphore.h>

#include "peer.h"
#include "support.h"

static void *
glibc_create(unsigned permits)
{
	sem_t *sem = fresh_line(sizeof(*sem));
	if (sem_init(sem, 1, permits) != 0)
		die("sem_init");
	return sem;
}

static void
glibc_destroy(void *semaphore)
{
	sem_destroy(semaphore);
	fresh_line_free(semaphore, sizeof(sem_t));
}

static inline void
glibc_take(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	if (sem_wait(semaphore) != 0)
		die("sem_wait");
}

static inline void
glibc_give(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	if (sem_post(semaphore) != 0)
		die("sem_post");
}

static void
glibc_give_many(void *semaphore, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		glibc_give(semaphore, NULL);
}

DEFINE_PAIRS(glibc)

static size_t
glibc_bytes(void *semaphore)
{
	(void)semaphore;
	return sizeof(sem_t);
}

const struct peer peer_glibc = {
	.name = "glibc",
	.create = glibc_create,
	.destroy = glibc_destroy,
	.take = glibc_take,
	.give = glibc_give,
	.give_many = glibc_give_many,
	.bytes = glibc_bytes,
	.pairs = glibc_pairs,
};
