/* SPDX-License-Identifier: MIT */
/* The same in JSON: an object has the keys of the columns that were selected. */
#ifndef TSEM_CLI_JSON_H
#define TSEM_CLI_JSON_H

#include <jansson.h>

#include "columns.h"
#include "tsem.h"

/* With NULL: all the keys of a semaphore, or of a holder, or of a waiter. NULL if there is no memory. */
json_t *stat_to_json(const char *name, const struct tsem_stat *stat, const struct selection *selection);
json_t *owner_to_json(const struct tsem_owner *owner, const struct selection *selection);

/* Prints and frees it. 0, or -ENOMEM. */
int print_json(json_t *json);

#endif
