/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "waiting.h"

static void
split(const struct options *o, struct group *group)
{
	for (char *at = group->text; at != NULL;) {
		char *name = at;
		at = strchr(at, ',');
		if (at != NULL)
			*at++ = '\0';
		if (group->n == TSEM_SEMAPHORES_MAX)
			die(NULL, "more than %u names (run one 'tsem run' inside another)", TSEM_SEMAPHORES_MAX);
		for (size_t i = 0; i < group->n; i++) {
			if (strcmp(group->names[i], name) == 0)
				die(name, "named twice (use -k for several permits of one semaphore)");
		}
		group->names[group->n++] = name;
	}
	if (group->n > 1 && o->count != 1)
		die(o->name, "-k needs a single semaphore (of several, run holds one permit each)");
}

/* Finds a wrong limit before the first semaphore of the list is created. */
static void
check_before_creating(const struct options *o)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *sem;
	int rc = tsem_open(o->name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc == -ENOENT || rc == -EIDRM)
		return;
	if (rc < 0)
		die_error(o->name, rc);
	rc = tsem_stat(sem, &stat);
	tsem_close(sem);
	if (rc == 0 && !accepts_limit(&stat, o->permits))
		die_of_limit(o, o->permits);
}

void
group_open(const struct options *o, struct group *group)
{
	*group = (struct group){.text = strdup(o->name)};
	if (group->text == NULL)
		die_error(o->name, -ENOMEM);
	split(o, group);
	struct options one = *o;
	for (size_t i = 0; group->n > 1 && o->has_permits && i < group->n; i++) {
		one.name = group->names[i];
		check_before_creating(&one);
	}
	for (size_t i = 0; i < group->n; i++) {
		one.name = group->names[i];
		group->sems[i] = open_for_use(&one, &group->created[i]);
	}
}

bool
group_remove_created(struct group *group)
{
	bool removed = false;
	for (size_t i = 0; i < group->n; i++) {
		if (group->created[i])
			removed = tsem_remove(group->names[i], 0) == 0 || removed;
		group->created[i] = false;
	}
	return removed;
}

void
group_close(struct group *group)
{
	for (size_t i = 0; i < group->n; i++)
		tsem_close(group->sems[i]);
	free(group->text);
}
