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

static uint64_t
bit_of(bool holders_only)
{
	return holders_only ? PENDING_HOLDERS : PENDING_IDLE;
}

/* 0: idle; -EAGAIN: not yet. A process that sleeps afterwards has set its bit before. */
static int
look(struct tsem *sem, bool holders_only)
{
	if (removal_notice(sem))
		return -EIDRM;
	return census_is_idle(sem, holders_only) ? 0 : -EAGAIN;
}

/* At the deadline. */
static int
look_once_more(struct tsem *sem, bool holders_only)
{
	recover_all(sem, NULL);
	int rc = look(sem, holders_only);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static int
sleep_until_idle(struct tsem *sem, bool holders_only, uint64_t until, unsigned flags)
{
	struct header *header = sem->segment.header;
	const uint64_t bit = bit_of(holders_only);
	uint64_t now;
	uint64_t due = 0;
	while ((now = platform.now()) < until) {
		const uint32_t seen = LOAD_ACQ(&header->idle);
		OR_SEQ(&header->pending, bit);
		bump_grants(sem);
		int rc = look(sem, holders_only);
		if (rc != -EAGAIN)
			return rc;
		if (now >= due) {
			look_unless_done(sem, now, due);
			due = next_multiple(now, TICK);
		}
		rc = platform.sleep(&header->idle, seen, (uint32_t)bit, earlier_of(due, until));
		if (wait_is_interrupted(rc, flags)) {
			rc = look(sem, holders_only);
			return rc == -EAGAIN ? -EINTR : rc;
		}
	}
	return look_once_more(sem, holders_only);
}

int
tsem_wait_idle(tsem *sem, unsigned flags, const struct timespec *deadline)
{
	const bool holders_only = (flags & TSEM_HOLDERS) != 0;
	if ((flags & ~(TSEM_HOLDERS | TSEM_INTERRUPTIBLE)) != 0 || !queue_is_deadline(deadline))
		return -EINVAL;
	if (!sem->segment.writable)
		return -EPERM;
	int rc = look(sem, holders_only);
	if (rc != -EAGAIN)
		return rc;
	/* A try wakes no other process. */
	const uint64_t until = queue_deadline(deadline);
	if (platform.now() >= until)
		return look_once_more(sem, holders_only);
	rc = sleep_until_idle(sem, holders_only, until, flags);
	notify_forget(sem, bit_of(holders_only));
	return rc;
}
