/* SPDX-License-Identifier: MIT */
/* What `tsem top` shows at the moment, and what it asks. */
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
	char selected[NAME_BYTES_MAX]; /* name of the selected one, as lines come and go */
	size_t row;                    /* its place in the order */

	/* One of them, if `one` is not empty. */
	char one[NAME_BYTES_MAX];
	struct snapshot snapshot;
	struct history history;
	int error; /* why it cannot be read, or 0 */

	size_t first; /* line at the top of the list */

	enum asking asking;
	const struct action *action;
	char target[NAME_BYTES_MAX]; /* of the action: does not change while it is asked for */
	char number[16];
	char said[256]; /* on the last line */
};

#endif
