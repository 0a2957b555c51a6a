/* SPDX-License-Identifier: MIT */
/* What `tsem top` can do to a semaphore: each after it was asked for, and confirmed. */
#ifndef TSEM_CLI_TOP_ACT_H
#define TSEM_CLI_TOP_ACT_H

#include <stdbool.h>

#include "options.h"
#include "tsem.h"

struct action {
	int key;
	const char *help;     /* what the key does */
	const char *question; /* the name of the semaphore follows, and then "to" and the number if one is asked for */
	const char *asks_for; /* the number's meaning, or NULL */
	/* 0, or a negative errno. What was done is said in `said`. */
	int (*act)(tsem *sem, uint32_t number, char said[160]);
};

/* Ends with key 0. */
extern const struct action actions[];

/* NULL: no action has that key. */
const struct action *find_action(int key);

/* Does it to the semaphore of that name; what came of it is in `said`. */
void perform(const struct action *action, const struct options *o, const char *name, uint32_t number, char said[256]);

#endif
