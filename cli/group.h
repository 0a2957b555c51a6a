/* SPDX-License-Identifier: MIT */
/* The semaphores that NAME[,NAME]... of `tsem run` names. */
#ifndef TSEM_CLI_GROUP_H
#define TSEM_CLI_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "tsem.h"

struct group {
	size_t n;
	tsem *sems[TSEM_SEMAPHORES_MAX];
	const char *names[TSEM_SEMAPHORES_MAX];
	bool created[TSEM_SEMAPHORES_MAX]; /* by group_open() */
	char *text;                        /* contains the names */
};

/* Opens all of them. With -j, creates those that do not exist. */
void group_open(const struct options *o, struct group *group);

/*
 * No command ran, so the call is to leave nothing behind: removes what group_open() has created, unless other processes
 * hold or wait by now. One that has just opened it finds it removed; `run -j` then creates it again. True: removed one.
 */
bool group_remove_created(struct group *group);

void group_close(struct group *group);

#endif
