/* SPDX-License-Identifier: MIT */
#include "top/target.h"

#include <stdio.h>
#include <string.h>

#include "process.h"

void
process_to_text(const struct tsem_owner *owner, char text[PROCESS_TEXT_MAX])
{
	const int number = (int)process_number(owner);
	if (number != 0)
		snprintf(text, PROCESS_TEXT_MAX, "process %d", number);
	else
		snprintf(text, PROCESS_TEXT_MAX, "process %d of another PID namespace", (int)owner->pid);
}

void
target_note(struct target *target, const char *name, const struct tsem_stat *stat, const struct tsem_owner *owner)
{
	char process[PROCESS_TEXT_MAX];
	char task[48];
	*target = (struct target){.owner = {.pid = 0}};
	strcpy(target->name, name);
	if (owner == NULL) {
		snprintf(target->text, sizeof(target->text), "'%.80s'", name);
		return;
	}
	target->owner = *owner;
	memcpy(target->uuid, stat->uuid, sizeof(target->uuid));
	process_to_text(owner, process);
	owner_task(owner, task, sizeof(task));
	snprintf(target->text, sizeof(target->text), "%s (%s)", process, task);
}

struct search {
	const struct tsem_owner *wanted;
	struct tsem_owner *found;
};

/* A ticket is never used twice, so a process that has got the same number has another one. */
static int
compare(const struct tsem_owner *owner, void *arg)
{
	const struct search *search = arg;
	const struct tsem_owner *wanted = search->wanted;
	if (owner->ticket != wanted->ticket || owner->pid != wanted->pid || owner->pid_ns != wanted->pid_ns)
		return 0;
	*search->found = *owner;
	return 1;
}

bool
target_find_again(tsem *sem, const struct target *target, struct tsem_owner *now)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	struct search search = {&target->owner, now};
	return tsem_snapshot(sem, &stat, compare, &search) == 1 && memcmp(stat.uuid, target->uuid, sizeof(stat.uuid)) == 0;
}
