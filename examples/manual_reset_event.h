/* SPDX-License-Identifier: MIT */
/*
 * This event lets all waiters through while it is set. It is a semaphore whose capacity is 0, or more than the largest
 * number of waiters. All processes that wait when the event is set get through, even if it is reset at once: a lower
 * capacity takes no permit from a waiter that was enabled. If a waiter dies on its way through, its permit comes back.
 */
#ifndef MANUAL_RESET_EVENT_H
#define MANUAL_RESET_EVENT_H

#include <tsem.h>

/* This is more than the number of processes that can hold or wait at the same time. */
#define MANUAL_RESET_EVENT_SET 65536U

/* Opens the event, or creates it reset. In the program's own memory, tsem_init_at() takes the same numbers. */
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
