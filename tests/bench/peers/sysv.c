/* SPDX-License-Identifier: MIT */
/*
 * semop(2), with and without SEM_UNDO: the kernel keeps the order, and SEM_UNDO gives permits of killed processes back.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

#include "peer.h"
#include "support.h"

/* Sets outlive their processes: an exit handler removes those that were not destroyed. */
enum { SETS_MAX = 64 };
static int sets[SETS_MAX];
static pid_t sets_owner;

static void
remove_sets(void)
{
	if (sets_owner != getpid())
		return;
	for (size_t i = 0; i < SETS_MAX; i++)
		if (sets[i] != 0)
			semctl(sets[i] - 1, 0, IPC_RMID);
}

static void
remember(int id)
{
	if (sets_owner == 0) {
		sets_owner = getpid();
		atexit(remove_sets);
	}
	for (size_t i = 0; i < SETS_MAX; i++)
		if (sets[i] == 0) {
			sets[i] = id + 1;
			return;
		}
}

static void *
sysv_create(unsigned permits)
{
	const int id = semget(IPC_PRIVATE, 1, 0600);
	if (id < 0 || semctl(id, 0, SETVAL, (int)permits) < 0)
		die("semget");
	remember(id);
	int *memory = fresh_line(sizeof(*memory));
	*memory = id;
	return memory;
}

static void
sysv_destroy(void *semaphore)
{
	const int id = *(int *)semaphore;
	semctl(id, 0, IPC_RMID);
	for (size_t i = 0; i < SETS_MAX; i++)
		if (sets[i] == id + 1)
			sets[i] = 0;
	fresh_line_free(semaphore, sizeof(int));
}

static inline void
operate(void *semaphore, short by, short flags)
{
	struct sembuf operation = {.sem_op = by, .sem_flg = flags};
	while (semop(*(int *)semaphore, &operation, 1) != 0)
		if (errno != EINTR)
			die("semop");
}

static inline void
sysv_take(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	operate(semaphore, -1, 0);
}

static inline void
sysv_give(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	operate(semaphore, 1, 0);
}

static void
sysv_give_many(void *semaphore, unsigned count)
{
	operate(semaphore, (short)count, 0);
}

static inline void
undo_take(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	operate(semaphore, -1, SEM_UNDO);
}

static inline void
undo_give(void *semaphore, tsem_hold *hold)
{
	(void)hold;
	operate(semaphore, 1, SEM_UNDO);
}

DEFINE_PAIRS(sysv)
DEFINE_PAIRS(undo)

const struct peer peer_sysv = {
	.name = "sysv",
	.create = sysv_create,
	.destroy = sysv_destroy,
	.take = sysv_take,
	.give = sysv_give,
	.give_many = sysv_give_many,
	.pairs = sysv_pairs,
};

/* A LOCK, because a take by one process and a give by another overflow the adjustments of both after 32,767 times. */
const struct peer peer_sysv_undo = {
	.name = "sysv-undo",
	.traits = LOCK | RECOVERS,
	.create = sysv_create,
	.destroy = sysv_destroy,
	.take = undo_take,
	.give = undo_give,
	.pairs = undo_pairs,
};
