/* SPDX-License-Identifier: MIT */
/* The verbs that are programs of their own: tsem-view prints tables and JSON, tsem-top draws on the screen. */
#ifndef TSEM_CLI_VIEW_H
#define TSEM_CLI_VIEW_H

#include "verb.h"

/* The command knows them, too, for `tsem help`. */
extern const struct verb show_verb;
extern const struct verb list_verb;
extern const struct verb top_verb;

struct view_verb {
	const struct verb *verb;
	int (*run)(const struct options *o);
};

/* Those that such a program does; the last row is zero. */
extern const struct view_verb view_verbs[];

#endif
