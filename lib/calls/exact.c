/* SPDX-License-Identifier: MIT */
/* tsem_set_exact(): what is available becomes the capacity less what is recorded for processes. */
#include <errno.h>

#include "calls/post.h"
#include "protocol/anonymous.h"
#include "protocol/protocol.h"
#include "recovery/removal.h"

/*
 * Withdraws what was posted in excess, by tickets that no process has. G never goes back, and a lower C would change
 * the capacity. If less is available, the tickets wait in the queue like those of a process. A second correction at the
 * same time moves T or G, so one of the two fails.
 */
static int
withdraw(struct tsem *sem, uint64_t tickets, uint64_t permits)
{
	if ((int64_t)permits - available_permits(sem) > COUNTER_DRIFT)
		return -EOVERFLOW;
	return advance_tickets(sem, tickets, permits);
}

/*
 * One attempt. `*correction`: the permits by which the number of available permits has changed. -EAGAIN: other
 * processes have moved a counter.
 */
static int
attempt(struct tsem *sem, int64_t *correction)
{
	const struct header *header = sem->segment.header;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	int64_t anonymous;
	if (!anonymous_count(sem, grants, tickets, &anonymous))
		return -EBADMSG;
	if (LOAD_SEQ(&header->grants) != grants)
		return -EAGAIN;
	if (anonymous > (int64_t)UINT32_MAX)
		anonymous = UINT32_MAX;
	*correction = anonymous;
	if (anonymous < 0)
		return withdraw(sem, tickets, (uint64_t)-anonymous);
	if (anonymous == 0)
		return 0;
	const int rc = post_taken(sem, (uint32_t)anonymous);
	return rc == -EOVERFLOW ? -EAGAIN : rc; /* another process has posted some of them */
}

int
tsem_set_exact(tsem *sem, int64_t *correction)
{
	if (!sem->segment.writable)
		return -EPERM;
	if (removal_notice(sem))
		return -EIDRM;
	int64_t corrected = 0;
	int rc = -EAGAIN;
	for (int retries = 0; retries < RETRIES_MAX && rc == -EAGAIN; retries++)
		rc = attempt(sem, &corrected);
	if (rc < 0)
		return rc == -EAGAIN ? -EBADMSG : rc;
	if (correction != NULL)
		*correction = corrected;
	return 0;
}
