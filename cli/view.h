/* SPDX-License-Identifier: MIT */
/* Verbs whose work is done by programs of their own: one prints tables and JSON, the other one draws on the screen. */
#ifndef TSEM_CLI_VIEW_H
#define TSEM_CLI_VIEW_H

#include "cmd.h"

extern const struct verb show_verb;
extern const struct verb list_verb;
extern const struct verb top_verb;

/* ---- inside such a program ---- */

/* What it does; NULL ends it. */
extern const struct verb *const view_verbs[];

/* Does it with the parsed options. */
int view_run(const struct verb *verb, const struct options *o);

int cmd_show(const struct options *o);
int cmd_list(const struct options *o);
int cmd_top(const struct options *o);

#endif
