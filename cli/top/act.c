/* SPDX-License-Identifier: MIT */
#include "top/act.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"

static int
act_recover(tsem *sem, uint32_t number, char result[160])
{
	uint32_t recovered;
	(void)number;
	int rc = tsem_recover(sem, &recovered);
	if (rc == 0)
		snprintf(result, 160, "%" PRIu32 " permit%s recovered", recovered, recovered == 1 ? "" : "s");
	return rc;
}

static int
act_cancel(tsem *sem, uint32_t number, char result[160])
{
	(void)number;
	int rc = tsem_cancel(sem);
	if (rc == 0)
		snprintf(result, 160, "all waiters are cancelled");
	return rc;
}

static int
act_set(tsem *sem, uint32_t number, char result[160])
{
	int rc = tsem_set(sem, number);
	if (rc == 0)
		snprintf(result, 160, "the capacity is now %" PRIu32, number);
	return rc;
}

const struct action actions[] = {
	{.key = 'r',
     .help = "recover the permits of dead holders",
     .question = "recover the permits of dead holders of",
     .act = act_recover},
	{.key = 'c', .help = "cancel all waiters", .question = "cancel all waiters of", .act = act_cancel},
	{.key = 'n',
     .help = "change the number of permits",
     .question = "change the number of permits of",
     .asks_for = "permits",
     .act = act_set},
	{.key = 0},
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
perform(const struct action *action, const struct options *o, const char *name, uint32_t number, char message[256])
{
	char done[160] = "";
	tsem *sem;
	int rc = tsem_open(name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc == 0) {
		rc = action->act(sem, number, done);
		tsem_close(sem);
	}
	snprintf(message, 256, "%.80s: %s", name, rc == 0 ? done : error_text(name, rc));
}
