/* SPDX-License-Identifier: MIT */
/*
 * The kernel as a second, independent monitor. For each permit, the worker locks a byte of its own in a file, from
 * after the acquire until before the release. The kernel drops the locks of a process while the process dies, before
 * any other process can find it dead. So the bytes that are locked while all workers are stopped are permits that live
 * workers held at one instant. That does not rely on what the workers write.
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

/* The permits of `semaphore` that the worker has locked. */
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
 * When the holder with the highest ticket was admitted, all holders fitted into a capacity that was in force since its
 * call: see monitor_check(). The driver does not know which holder that is, so it takes the earliest call.
 */
void
storm_count_locks(struct storm *storm, unsigned semaphore)
{
	uint64_t earliest = UINT64_MAX;
	uint64_t locked = 0;
	for (unsigned i = 0; i < storm->workers; i++) {
		const uint32_t count = count_locked(storm, i, semaphore);
		const uint64_t called_at = atomic_load(&storm->entries[i].called_at);
		locked += count;
		if (count != 0 && called_at < earliest)
			earliest = called_at;
	}
	const uint64_t surplus = semaphore == ANONYMOUS ? atomic_load(&storm->surplus) : 0;
	const uint64_t exist = storm_claimable(storm, semaphore, earliest) + surplus;
	if (locked > 0 && locked > exist) {
		storm_fault(storm, "by the locks: %" PRIu64 " permits held of %" PRIu64 " of %s", locked, exist,
		            storm->names[semaphore]);
		storm->faults_by_locks++;
	}
	if (locked > storm->most_locked[semaphore])
		storm->most_locked[semaphore] = locked;
}
