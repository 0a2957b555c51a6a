/* SPDX-License-Identifier: MIT */
/*
 * A witness outside tsem and outside the program: the kernel. For each permit that a worker has, it locks a byte of its own
 * in a file of the storm's own, from behind the acquire until before the release. The kernel drops the locks of a process
 * while it dies, before any other process can find it dead. So what is locked while all workers are stopped was held by
 * live workers at one instant, and no worker's word has to be believed for that.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "storm.h"

enum { PERMITS_MAX = 4 }; /* of one worker and one semaphore */

static int file;

void
storm_create_locks(void)
{
	file = memfd_create("storm", MFD_CLOEXEC);
	if (file >= 0)
		return;
	perror("memfd_create");
	exit(EXIT_FAILURE);
}

static struct flock
bytes_of(unsigned worker, unsigned semaphore, uint32_t count, short type)
{
	return (struct flock){.l_type = type,
	                      .l_whence = SEEK_SET,
	                      .l_start = ((off_t)semaphore * WORKERS_MAX + worker) * PERMITS_MAX,
	                      .l_len = count};
}

void
storm_lock(struct storm *storm, unsigned worker, unsigned semaphore, uint32_t count)
{
	struct flock lock = bytes_of(worker, semaphore, count, F_WRLCK);
	if (fcntl(file, F_SETLK, &lock) != 0)
		storm_fault(storm, "worker %u cannot lock its own bytes", worker);
}

void
storm_unlock(struct storm *storm, unsigned worker, unsigned semaphore)
{
	struct flock lock = bytes_of(worker, semaphore, PERMITS_MAX, F_UNLCK);
	if (fcntl(file, F_SETLK, &lock) != 0)
		storm_fault(storm, "worker %u cannot unlock its own bytes", worker);
}

/* How many permits of `semaphore` the worker has, as the kernel says. */
static uint32_t
count_locked(struct storm *storm, unsigned worker, unsigned semaphore)
{
	struct flock lock = bytes_of(worker, semaphore, PERMITS_MAX, F_WRLCK);
	if (fcntl(file, F_GETLK, &lock) != 0)
		storm_fault(storm, "the locks of worker %u cannot be read", worker);
	else if (lock.l_type != F_UNLCK)
		return (uint32_t)lock.l_len;
	return 0;
}

/*
 * The holder with the highest ticket was admitted when all of them fitted into a capacity that was in force since it
 * called; witness_check() has the whole argument. Which one that is the driver does not know, and takes the earliest call.
 */
void
storm_count_locks(struct storm *storm, unsigned semaphore)
{
	uint64_t earliest = UINT64_MAX;
	uint64_t locked = 0;
	for (unsigned i = 0; i < storm->workers; i++) {
		const uint32_t count = count_locked(storm, i, semaphore);
		const uint64_t called = atomic_load(&storm->entries[i].called);
		locked += count;
		if (count != 0 && called < earliest)
			earliest = called;
	}
	const uint64_t surplus = semaphore == ANONYMOUS ? atomic_load(&storm->surplus) : 0;
	const uint64_t exist = storm_claimable(storm, semaphore, earliest) + surplus;
	if (locked > 0 && locked > exist) {
		storm_fault(storm, "from outside: %" PRIu64 " permits held of %" PRIu64 " of %s", locked, exist,
		            storm->names[semaphore]);
		storm->faults_from_outside++;
	}
	if (locked > storm->most_locked[semaphore])
		storm->most_locked[semaphore] = locked;
}
