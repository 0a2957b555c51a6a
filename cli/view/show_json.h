/* SPDX-License-Identifier: MIT */
/* One semaphore as JSON: its state, its holders and its waiters. */
#ifndef TSEM_CLI_SHOW_JSON_H
#define TSEM_CLI_SHOW_JSON_H

#include "options.h"
#include "view/snapshot.h"

void show_json(const char *name, const struct view_options *o, const struct snapshot *snapshot);

#endif
