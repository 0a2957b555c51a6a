/* SPDX-License-Identifier: MIT */
/* The state of `tsem top`: what it shows and what it asks. */
#ifndef TSEM_CLI_TOP_H
#define TSEM_CLI_TOP_H

#include "options.h"
#include "top/act.h"
#include "top/rows.h"
#include "top/target.h"
#include "view/snapshot.h"

enum asking { ASK_NOTHING, ASK_ARGUMENT, ASK_CONFIRM, ASK_FILTER, ASK_HELP };

struct top {
	const struct options *o;
	uint64_t delay_ns;

	/* All semaphores. */
	struct top_model model;
	struct row_rules rules;
	char selected[NAME_SIZE];

	/* One semaphore, if `one` is not empty. */
	char one[NAME_SIZE];
	struct snapshot snapshot;
	struct history history;
	int error;                 /* of reading it: 0, or a negative errno */
	struct tsem_owner process; /* the selected one; pid 0: none */
	char filter[FILTER_SIZE];  /* of its processes */

	/* The list of either screen. */
	struct rows rows;
	size_t row;   /* of the selection */
	size_t first; /* the row at the top of the list */
	int sideways; /* how many columns are scrolled off to the left */
	int beyond;   /* how many columns are cut off at the right */

	size_t help_first; /* the line at the top of the help */

	enum asking asking;
	const struct action *action;
	struct target target;
	char typed[32];    /* the argument of the action */
	char message[256]; /* on the last line */
};

#endif
