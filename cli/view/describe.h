/* SPDX-License-Identifier: MIT */
/* Semaphores, holders and waiters as text: the cells of tables. */
#ifndef TSEM_CLI_DESCRIBE_H
#define TSEM_CLI_DESCRIBE_H

#include "columns.h"
#include "reason.h"
#include "tsem.h"

/* Enough for any cell. Only a command line needs much of it. */
enum { CELL_BYTES_MAX = 4096 };

void owner_to_cell(const struct tsem_owner *owner, enum show_column column, char text[CELL_BYTES_MAX]);
void stat_to_cell(const char *name, const struct tsem_stat *stat, enum reason_kind reason, enum list_column column,
                  char text[CELL_BYTES_MAX]);

/* The permits of a semaphore: "2 held", or "1 held, 1 of dead holders". */
void held_to_text(const struct tsem_stat *stat, const struct reason *reason, char text[64]);

/* The permits of dead holders, which no process has recovered yet. They are among those that are held. */
uint64_t dead_of(const struct tsem_stat *stat, const struct reason *reason);

/*
 * The permits that were posted beyond those taken. 0 if the creator has left that to posts: by no permits of its own,
 * or by a maximum that is not exceeded.
 */
uint64_t excess_of(const struct tsem_stat *stat);

/* "yes", "no" or "unknown", as in JSON. */
const char *alive_to_text(enum tsem_alive alive);

void uuid_to_text(const unsigned char uuid[16], char text[37]);

/* ISO 8601 in UTC. */
void time_to_text(int64_t seconds, char text[32]);

/* Short: 5.2s, 3m20s, 2h05m. */
void duration_to_text(uint64_t ns, char text[24]);

void user_to_text(uid_t uid, char text[64]);

#endif
