/* SPDX-License-Identifier: MIT */
/* The state of `tsem top`: what it shows and what it asks. */
#ifndef TSEM_CLI_TOP_H
#define TSEM_CLI_TOP_H

#include "options.h"
#include "top/model.h"
#include "view/snapshot.h"

struct action;

enum asking { ASK_NOTHING, ASK_NUMBER, ASK_CONFIRM, ASK_HELP };

struct top {
	const struct options *o;
	uint64_t delay_ns;

	/* All semaphores. */
	struct top_model model;
	enum top_column sort;
	bool inverted;
	char selected[NAME_SIZE]; /* a name, because rows come and go */
	size_t row;               /* of the selected one */

	/* One semaphore, if `one` is not empty. */
	char one[NAME_SIZE];
	struct snapshot snapshot;
	struct history history;
	int error; /* of reading it: 0, or a negative errno */

	size_t first; /* the row at the top of the list */

	enum asking asking;
	const struct action *action;
	char target[NAME_SIZE]; /* of the action; the selection may change before the answer */
	char number[16];
	char message[256]; /* on the last line */
};

#endif
