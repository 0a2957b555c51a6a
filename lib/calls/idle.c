/* SPDX-License-Identifier: MIT */
/* Waiting until no process holds. notify.h has the other side. */
#include <errno.h>

#include "protocol/census.h"
#include "protocol/protocol.h"
#include "queue/queue.h"
#include "recovery/look.h"
#include "recovery/recover.h"
#include "recovery/removal.h"
#include "system/platform.h"
#include "wake/notify.h"

/* 0: idle; -EAGAIN: not yet. A process that sleeps afterwards has set its bit before. */
static int
look(struct tsem *sem, uint64_t bit)
{
	if (removal_notice(sem))
		return -EIDRM;
	return census_is_idle(sem, bit == PENDING_HOLDERS) ? 0 : -EAGAIN;
}

/* -EAGAIN: not idle at the deadline. */
static int
sleep_until_idle(struct tsem *sem, uint64_t bit, uint64_t until, unsigned flags)
{
	struct header *header = sem->segment.header;
	uint64_t now;
	uint64_t due = 0;
	while ((now = platform.now()) < until) {
		const uint32_t seen = LOAD_ACQ(&header->idle);
		OR_SEQ(&header->pending, bit);
		bump_grants(sem);
		int rc = look(sem, bit);
		if (rc != -EAGAIN)
			return rc;
		if (now >= due) {
			look_unless_done(sem, now, due);
			due = next_multiple(now, TICK);
		}
		rc = platform.sleep(&header->idle, seen, (uint32_t)bit, earlier_of(due, until));
		if (wait_is_interrupted(rc, flags)) {
			rc = look(sem, bit);
			return rc == -EAGAIN ? -EINTR : rc;
		}
	}
	return -EAGAIN;
}

int
tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline)
{
	const uint64_t bit = (flags & TSEM_HOLDERS) != 0 ? PENDING_HOLDERS : PENDING_IDLE;
	if ((flags & ~(TSEM_HOLDERS | TSEM_INTERRUPTIBLE)) != 0 || !queue_is_deadline(deadline))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	const uint64_t until = wait_deadline(deadline);
	int rc = look(sem, bit);
	if (rc == -EAGAIN && platform.now() < until) { /* a try wakes no other process */
		rc = sleep_until_idle(sem, bit, until, flags);
		notify_forget(sem, bit);
	}
	if (rc != -EAGAIN)
		return rc;
	recover_all(sem, NULL);
	rc = look(sem, bit);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}
