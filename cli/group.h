/* SPDX-License-Identifier: MIT */
/* The semaphores that NAME[,NAME]... of `tsem run` names. */
#ifndef TSEM_CLI_GROUP_H
#define TSEM_CLI_GROUP_H

#include <stddef.h>

#include "options.h"
#include "tsem.h"

struct group {
	size_t n;
	tsem *sems[TSEM_SEMAPHORES_MAX];
	const char *names[TSEM_SEMAPHORES_MAX];
	char *text; /* contains the names */
};

/* Opens all of them. With -j, creates those that do not exist. */
void group_open(const struct options *o, struct group *group);

void group_close(struct group *group);

#endif
