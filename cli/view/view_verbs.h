/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_VIEW_VIEW_VERBS_H
#define TSEM_CLI_VIEW_VIEW_VERBS_H

#include "options.h"

int cmd_show(const struct options *o);
int cmd_list(const struct options *o);
int cmd_watch(const struct options *o);

#endif
