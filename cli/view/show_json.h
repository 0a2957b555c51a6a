/* SPDX-License-Identifier: MIT */
/* One semaphore as JSON: its state, its holders and its waiters. */
#ifndef TSEM_CLI_SHOW_JSON_H
#define TSEM_CLI_SHOW_JSON_H

#include <jansson.h>

#include "options.h"
#include "view/snapshot.h"

/* How often and how long processes had to wait. NULL if there is no memory. */
json_t *statistics_to_json(const struct tsem_stat *stat);

void show_json(const char *name, const struct view_options *o, const struct snapshot *snapshot);

#endif
