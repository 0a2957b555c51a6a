/* SPDX-License-Identifier: MIT */
/*
 * An event that lets everybody through while it is set. It is a semaphore whose capacity is 0, or more than there can be
 * waiters. Whoever waits when it is set gets through, even if it is reset at once: a lower capacity takes no permit from
 * those who were enabled. A waiter that dies on its way through gives its permit back like any holder.
 */
#ifndef MANUAL_RESET_EVENT_H
#define MANUAL_RESET_EVENT_H

#include <tsem.h>

/* More than can hold or wait at the same time. */
#define MANUAL_RESET_EVENT_SET 65536U

/* Opens it, and makes it first if it is not there; reset. In memory of one's own: tsem_init_at() with the same numbers. */
static inline int
manual_reset_event_open(const char *name, tsem **event)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 0, .flags = TSEM_EXIST_OK};
	return tsem_create(name, &config, event);
}

static inline int
manual_reset_event_set(tsem *event)
{
	return tsem_set(event, MANUAL_RESET_EVENT_SET);
}

static inline int
manual_reset_event_reset(tsem *event)
{
	return tsem_set(event, 0);
}

static inline int
manual_reset_event_wait(tsem *event, const struct timespec *deadline)
{
	tsem_hold hold;
	int rc = tsem_acquire(event, 1, deadline, &hold);
	return rc < 0 ? rc : tsem_release(&hold);
}

#endif
