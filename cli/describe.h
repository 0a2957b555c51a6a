/* SPDX-License-Identifier: MIT */
/* A semaphore read for printing, and its JSON form, shared by show and list. */
#ifndef TSEM_CLI_DESCRIBE_H
#define TSEM_CLI_DESCRIBE_H

#include <jansson.h>

#include "tsem.h"

/* Opens for looking on only: nothing there can harm us, whoever it belongs to. */
int open_for_viewing(const char *name, tsem **sem);

/* An object with everything but the arrays. NULL: out of memory. */
json_t *stat_to_json(const char *name, const struct tsem_stat *stat);

/* One element of holders[] or waiters[]. */
json_t *owner_to_json(const struct tsem_owner *owner);

/* Prints the object and frees it. 0, or -ENOMEM for NULL. */
int print_json(json_t *json);

const char *alive_to_text(enum tsem_alive alive);

void uuid_to_text(const unsigned char uuid[16], char text[37]);

/* ISO 8601, UTC. */
void time_to_text(int64_t seconds, char text[32]);

/* "1.2s", "5m03s", "2h05m", "3d04h". */
void duration_to_text(uint64_t ns, char text[24]);

#endif
