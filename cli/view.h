/* SPDX-License-Identifier: MIT */
/* The modules with the verbs that print tables and JSON, and with the one that draws on the screen. */
#ifndef TSEM_CLI_VIEW_H
#define TSEM_CLI_VIEW_H

#include "cmd.h"
#include "config.h"

/* The symbol carries the version, so that the command never calls into another one's module. */
#define VIEW_SYMBOL "tsem_view_" TSEM_VERSION_SYMBOL
#define VIEW_ENTRY VIEW_PASTE(tsem_view_, TSEM_VERSION_TOKEN)
#define VIEW_PASTE(a, b) VIEW_PASTE_(a, b)
#define VIEW_PASTE_(a, b) a##b

typedef int view_fn(const struct verb *verb, int argc, char **argv);

/* What each module does with the parsed options; `verb` is one of its own. */
int view_run(const struct verb *verb, const struct options *o);

int cmd_show(const struct options *o);
int cmd_list(const struct options *o);
int cmd_top(const struct options *o);

#endif
