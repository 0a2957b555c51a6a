/* SPDX-License-Identifier: MIT */
/* Many semaphores, as a table or as JSON. */
#ifndef TSEM_CLI_LISTING_H
#define TSEM_CLI_LISTING_H

#include <jansson.h>
#include <stdbool.h>

#include "view/describe.h"
#include "view/table.h"

struct listing {
	bool has_reason; /* a column tells the reason, which costs a look at the holders */
	json_t *json;    /* NULL without -J */
	struct table table;
	struct selection keys; /* of JSON; without -o those that tsem-json(5) documents */
	bool chosen;           /* by -o */
	bool stats;
};

void listing_begin(struct listing *listing, const struct view_options *o);

/* 0, or -ENOMEM. */
int listing_add(struct listing *listing, const struct semaphore *semaphore);

/* Prints it if `error` is 0, and frees it. Dies of an error. */
void listing_end(struct listing *listing, int error);

#endif
