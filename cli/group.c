/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "waiting.h"

/* Returns -1 to go on, or an exit status. */
static int
split(const struct options *o, struct group *group)
{
	for (char *at = group->text; at != NULL;) {
		char *name = at;
		at = strchr(at, ',');
		if (at != NULL)
			*at++ = '\0';
		if (group->n == TSEM_SEMAPHORES_MAX)
			return complain(NULL, "more than %u names (use several 'tsem run', one inside the other)",
			                TSEM_SEMAPHORES_MAX);
		for (size_t i = 0; i < group->n; i++) {
			if (strcmp(group->names[i], name) == 0)
				return complain(name, "named twice (use -k for several permits of one semaphore)");
		}
		group->names[group->n++] = name;
	}
	if (group->n > 1 && o->count != 1)
		return complain(o->name, "-k is for one semaphore (of several, one permit each can be held)");
	return -1;
}

/* What makes a list useless is found before the first of them is created. Returns -1 to go on, or an exit status. */
static int
look_before_creating(const struct options *o)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *sem;
	int rc = tsem_open(o->name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc == -ENOENT || rc == -EIDRM)
		return -1;
	if (rc < 0)
		return complain_error(o->name, rc);
	rc = tsem_stat(sem, &stat);
	tsem_close(sem);
	return rc == 0 && stat.permits != o->permits ? complain_about_limit(o) : -1;
}

int
group_open(const struct options *o, struct group *group)
{
	*group = (struct group){.text = strdup(o->name)};
	if (group->text == NULL)
		return complain_error(o->name, -ENOMEM);
	int status = split(o, group);
	const size_t n = group->n;
	struct options one = *o;
	for (size_t i = 0; status < 0 && n > 1 && o->has_permits && i < n; i++) {
		one.name = group->names[i];
		status = look_before_creating(&one);
	}
	group->n = 0;
	while (status < 0 && group->n < n) {
		one.name = group->names[group->n];
		status = open_for_use(&one, &group->sems[group->n]);
		if (status < 0)
			group->n++;
	}
	if (status >= 0)
		group_close(group);
	return status;
}

void
group_close(struct group *group)
{
	for (size_t i = 0; i < group->n; i++)
		tsem_close(group->sems[i]);
	free(group->text);
}
