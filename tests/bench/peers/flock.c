/* SPDX-License-Identifier: MIT */
/* flock(2): each participant opens the file for itself, for a lock belongs to an open file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peer.h"
#include "support.h"

enum { PATH_BYTES = 64 };

static void *
flock_create(unsigned permits)
{
	static unsigned turn;
	char *path = shared_memory(PATH_BYTES);
	if (permits != 1)
		die("flock has one permit");
	snprintf(path, PATH_BYTES, "/dev/shm/bench-%ld-%u.lock", (long)getpid(), turn++);
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	close(fd);
	return path;
}

static void
flock_destroy(void *semaphore)
{
	unlink(semaphore);
	munmap(semaphore, PATH_BYTES);
}

static void
flock_join(void *semaphore, struct seat *seat)
{
	seat->fd = open(semaphore, O_RDWR | O_CLOEXEC);
	if (seat->fd < 0)
		die(semaphore);
}

static void
flock_leave(void *semaphore, struct seat *seat)
{
	(void)semaphore;
	close(seat->fd);
}

static inline void
operate(const struct seat *seat, int operation)
{
	while (flock(seat->fd, operation) != 0)
		if (errno != EINTR)
			die("flock");
}

static inline void
flock_take(void *semaphore, struct seat *seat)
{
	(void)semaphore;
	operate(seat, LOCK_EX);
}

static inline void
flock_give(void *semaphore, struct seat *seat)
{
	(void)semaphore;
	operate(seat, LOCK_UN);
}

DEFINE_PAIRS(flock)

const struct peer peer_flock = {
	.name = "flock",
	.traits = LOCK | RECOVERS,
	.create = flock_create,
	.destroy = flock_destroy,
	.join = flock_join,
	.leave = flock_leave,
	.take = flock_take,
	.give = flock_give,
	.pairs = flock_pairs,
};
