/* SPDX-License-Identifier: MIT */
/*
 * An event that lets one through and then resets itself. Setting it when it is set already changes nothing; waiters get
 * through in the order in which they came. It is a semaphore of no permits and at most one: tsem_post() refuses the second.
 * A waiter that dies before it got through costs no event: the next one gets it.
 */
#ifndef AUTO_RESET_EVENT_H
#define AUTO_RESET_EVENT_H

#include <errno.h>

#include <tsem.h>

/* Opens it, and makes it first if it is not there. In memory of one's own: tsem_init_at() with the same numbers. */
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
