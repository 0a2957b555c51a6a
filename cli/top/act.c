/* SPDX-License-Identifier: MIT */
#include "top/act.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"

static int
act_recover(tsem *sem, uint32_t number, char said[160])
{
	uint32_t recovered;
	(void)number;
	int rc = tsem_recover(sem, &recovered);
	if (rc == 0)
		snprintf(said, 160, "%" PRIu32 " permit%s recovered", recovered, recovered == 1 ? "" : "s");
	return rc;
}

static int
act_cancel(tsem *sem, uint32_t number, char said[160])
{
	(void)number;
	int rc = tsem_cancel(sem);
	if (rc == 0)
		snprintf(said, 160, "all waiters were told to give up");
	return rc;
}

static int
act_set(tsem *sem, uint32_t number, char said[160])
{
	int rc = tsem_set(sem, number);
	if (rc == 0)
		snprintf(said, 160, "the capacity is %" PRIu32 " now", number);
	return rc;
}

const struct action actions[] = {
	{'r', "recover what dead processes held", "recover what dead processes held of", NULL, act_recover},
	{'c', "cancel: all waiters give up", "make all waiters give up for", NULL, act_cancel},
	{'n', "change the number of permits", "change the number of permits of", "permits", act_set},
	{0, NULL, NULL, NULL, NULL},
};

const struct action *
find_action(int key)
{
	const struct action *action = actions;
	while (action->key != 0 && action->key != key)
		action++;
	return action->key == 0 ? NULL : action;
}

void
perform(const struct action *action, const struct options *o, const char *name, uint32_t number, char said[256])
{
	char done[160] = "";
	tsem *sem;
	int rc = tsem_open(name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc == 0) {
		rc = action->act(sem, number, done);
		tsem_close(sem);
	}
	snprintf(said, 256, "%.80s: %s", name, rc == 0 ? done : error_text(rc));
}
