/* SPDX-License-Identifier: MIT */
/* The actions of `tsem top` on a semaphore. The user confirms each. */
#ifndef TSEM_CLI_TOP_ACT_H
#define TSEM_CLI_TOP_ACT_H

#include <stdbool.h>

#include "options.h"
#include "tsem.h"

struct action {
	int key;
	const char *help;
	const char *question; /* followed by the name of the semaphore, and by "to NUMBER" if there is one */
	const char *asks_for; /* the meaning of the number, or NULL if there is none */
	/* 0, with the result as text in `result`, or a negative errno. */
	int (*act)(tsem *sem, uint32_t number, char result[160]);
};

/* Ends with key 0. */
extern const struct action actions[];

/* NULL if no action has that key. */
const struct action *find_action(int key);

/* Applies the action to the semaphore `name`. `message`: the result or the error, for the last line. */
void perform(const struct action *action, const struct options *o, const char *name, uint32_t number,
             char message[256]);

#endif
