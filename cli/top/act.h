/* SPDX-License-Identifier: MIT */
/* The actions of `tsem top` on a semaphore, or on a process that holds or waits. The user confirms each. */
#ifndef TSEM_CLI_TOP_ACT_H
#define TSEM_CLI_TOP_ACT_H

#include <stdbool.h>

#include "options.h"
#include "top/target.h"
#include "tsem.h"

/* What the user types before the question. */
struct argument {
	const char *name;     /* followed by the target */
	const char *joint;    /* between the target and the argument */
	const char *standard; /* if nothing is typed */
	bool (*parse)(const char *text, uint32_t *number);
	const char *mistake; /* after a text that cannot be parsed */
};

enum scope { ON_SEMAPHORE, ON_WAITER, ON_PROCESS };

struct action {
	int key;
	enum scope scope;
	const char *help;
	const char *question;            /* followed by the target, and by the argument if there is one */
	const struct argument *argument; /* or NULL */
	/* Whether the action is impossible for the process; then `why` says so. NULL: it never is. */
	bool (*refuse)(const struct tsem_owner *owner, char why[RESULT_SIZE]);
	/* 0, with the result as text, or a negative errno. */
	int (*act)(tsem *sem, const struct target *target, uint32_t number, char result[RESULT_SIZE]);
};

/* Ends with key 0. */
extern const struct action actions[];

/* NULL if no action has that key. `selected`: the selected process, or NULL. */
const struct action *find_action(int key, const struct tsem_owner *selected);

/* `message`: the result or the error, for the last line. */
void perform(const struct action *action, const struct options *o, const struct target *target, uint32_t number,
             char message[256]);

#endif
