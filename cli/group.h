/* SPDX-License-Identifier: MIT */
/* The semaphores that one NAME[,NAME]... of `tsem run` means. */
#ifndef TSEM_CLI_GROUP_H
#define TSEM_CLI_GROUP_H

#include <stddef.h>

#include "options.h"
#include "tsem.h"

struct group {
	size_t n;
	tsem *sems[TSEM_SEMAPHORES_MAX];
	const char *names[TSEM_SEMAPHORES_MAX];
	char *text; /* that the names are in */
};

/* Opens all of them, or with -j creates what is missing. */
void group_open(const struct options *o, struct group *group);

void group_close(struct group *group);

#endif
