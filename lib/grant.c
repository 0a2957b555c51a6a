/* SPDX-License-Identifier: MIT */
#include "grant.h"

#include "notify.h"
#include "recover_front.h"
#include "wake.h"

void
grant_notify(struct tsem *sem, const struct grant *grant)
{
	wake_enabled(sem, grant);
	skip_orphans(sem);
	notify_idle(sem);
}

int
grant_notify_moved(struct tsem *sem, uint64_t grants, uint32_t count)
{
	const int saved = errno;
	const uint64_t from = counter_add(counter_value(grants), LOAD_SEQ(&sem->segment.header->capacity));
	const struct grant grant = {.moved = true, .from = from, .to = counter_add(from, count)};
	grant_notify(sem, &grant);
	errno = saved;
	return 0;
}
