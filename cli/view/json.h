/* SPDX-License-Identifier: MIT */
/* Semaphores, holders and waiters as JSON. An object has the keys of the selected columns. */
#ifndef TSEM_CLI_JSON_H
#define TSEM_CLI_JSON_H

#include <jansson.h>

#include "columns.h"
#include "view/describe.h"

/* Without a selection, the keys that tsem-json(5) documents. NULL if there is no memory. */
json_t *semaphore_to_json(const struct semaphore *semaphore, const struct selection *selection);
json_t *participant_to_json(const struct participant *participant, const struct selection *selection);

/* Prints and frees it; fails if it is NULL. 0, or -ENOMEM. */
int print_json(json_t *json);

#endif
