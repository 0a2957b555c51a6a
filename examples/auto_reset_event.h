/* SPDX-License-Identifier: MIT */
/*
 * This event lets one waiter through and then resets itself. Setting an event that is already set changes nothing.
 * Waiters get through in the order in which they came. The event is a semaphore with no permits and a maximum of one:
 * tsem_post() refuses the second. A waiter that dies before it gets through costs no event: the next waiter gets it.
 */
#ifndef AUTO_RESET_EVENT_H
#define AUTO_RESET_EVENT_H

#include <errno.h>

#include <tsem.h>

/* Opens the event, or creates it. In the program's own memory, tsem_init_at() takes the same numbers. */
static inline int
auto_reset_event_open(const char *name, tsem **event)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 0, .max = 1, .flags = TSEM_EXIST_OK};
	return tsem_create(name, &config, event);
}

static inline int
auto_reset_event_set(tsem *event)
{
	int rc = tsem_post(event, 1, NULL);
	return rc == -EOVERFLOW ? 0 : rc;
}

static inline int
auto_reset_event_reset(tsem *event)
{
	int rc = tsem_try_take(event, 1);
	return rc == -EAGAIN ? 0 : rc;
}

static inline int
auto_reset_event_wait(tsem *event, const struct timespec *deadline)
{
	return tsem_take(event, 1, deadline);
}

#endif
