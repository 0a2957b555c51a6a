/* SPDX-License-Identifier: MIT */
#include "recovery/removal.h"

#include <errno.h>
#include <string.h>

#include "records/owner.h"
#include "records/presence.h"
#include "records/record.h"
#include "system/platform.h"
#include "wake/notify.h"
#include "wake/wake.h"

/* ---- the mark ---- */

void
removal_mark(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	STORE_SEQ(&header->removed, 1);
	/* Without capacity every call takes the slow path, where it sees the mark. */
	STORE_SEQ(&header->capacity, 0);
	wake_all(sem);
	notify_removal(sem);
}

bool
removal_is_marked(const struct tsem *sem)
{
	struct header *header = sem->segment.header;
	if (LOAD_SEQ(&header->removed) == 0)
		return false;
	if (LOAD_RLX(&header->capacity) != 0)
		STORE_SEQ(&header->capacity, 0);
	return true;
}

bool
removal_notice(struct tsem *sem)
{
	if (removal_is_marked(sem))
		return true;
	if (!segment_is_unlinked(&sem->segment) || LOAD_SEQ(&sem->segment.header->nameless) != 0)
		return false;
	removal_mark(sem);
	return true;
}

/* Recovery marks the semaphore before such permits move, and the caller has read G or T after that move. */
int
fail_if_removed(struct tsem *sem, int rc)
{
	const bool removed = rc == -EAGAIN ? removal_notice(sem) : rc == 0 && removal_is_marked(sem);
	return removed ? -EIDRM : rc;
}

/* ---- the name ---- */

/*
 * A process may be stopped for any time between its look at what a name leads to and unlink(). If another process
 * removed the name meanwhile, it could be given to a new semaphore, and unlink() would take that one's. So one process
 * at a time has the right to unlink. It has the right until it gives it back or is certainly dead. Only a process that
 * may write to the segment can take the right.
 */
static bool
take_right_to_unlink(struct tsem *sem)
{
	struct record *right = &sem->segment.header->remover;
	const uint64_t owner = LOAD_ACQ(&right->owner);
	return (owner == 0 || owner_liveness(sem, right, owner) == LIVENESS_DEAD) && record_take_over(sem, right, owner);
}

static void
sleep_for(uint64_t ns)
{
	static _Atomic uint32_t never;
	const uint64_t until = platform.now() + ns;
	while (platform.sleep(&never, 0, UINT32_MAX, until) == -EINTR)
		continue;
}

/*
 * `nameless` says whether the semaphore lives on before the name goes: a process may look at the file in between, and
 * an earlier unlinker may have died after it had set the word. A process that is late, and finds the name gone, leaves
 * the word alone.
 */
static int
unlink_by_right(const char *name, struct tsem *sem, bool lives_on)
{
	_Atomic uint32_t *nameless = &sem->segment.header->nameless;
	if (segment_is_unlinked(&sem->segment))
		return -ENOENT;
	STORE_SEQ(nameless, lives_on);
	const int rc = segment_unlink(name, sem->segment.device, sem->segment.inode);
	if (rc < 0)
		STORE_SEQ(nameless, 0);
	else if (!lives_on)
		removal_mark(sem);
	return rc;
}

int
removal_unlink(const char *name, struct tsem *sem, bool lives_on)
{
	enum { SLEEPS = 10 }; /* of 1 ms, 2 ms, 4 ms and so on: a second in all */
	for (int i = 0; !take_right_to_unlink(sem); i++) {
		if (i == SLEEPS)
			return -EBUSY;
		sleep_for(NS_PER_MS << i);
	}
	const int rc = unlink_by_right(name, sem, lives_on);
	STORE_REL(&sem->segment.header->remover.owner, 0);
	return rc;
}

int
removal_unlink_leftover(const char *name, unsigned flags)
{
	struct tsem sem = {.permits = 0};
	int rc = segment_attach(name, (flags & TSEM_FOREIGN) != 0 ? SEGMENT_FOREIGN : 0, &sem.segment);
	if (rc < 0)
		return rc;
	strcpy(sem.name, name);
	if (LOAD_ACQ(&sem.segment.header->removed) != 0)
		rc = removal_unlink(name, &sem, false);
	presence_close(&sem);
	segment_detach(&sem.segment);
	return rc == 0 ? -ENOENT : rc;
}
