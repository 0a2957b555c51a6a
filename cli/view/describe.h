/* SPDX-License-Identifier: MIT */
/* What each column says of a semaphore, a holder or a waiter: in tables as text, in JSON by its type. */
#ifndef TSEM_CLI_DESCRIBE_H
#define TSEM_CLI_DESCRIBE_H

#include "columns.h"
#include "reason.h"
#include "tsem.h"

/* Enough for any cell. Only a command line needs much of it. */
enum { CELL_BYTES_MAX = 4096 };

enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_NUMBER, VALUE_BOOLEAN, VALUE_DURATION, VALUE_SLOTS };

struct value {
	enum value_kind kind;
	uint64_t number;                /* also 0 or 1, and nanoseconds */
	const struct tsem_owner *owner; /* of the slots */
	char text[CELL_BYTES_MAX];
};

/* People see "stopped" as a way to be alive, and a waiting `tsem run` as its command; programs see all. */
enum reader { READER_TABLE, READER_JSON };

/* A row of `list`. Without the columns REASON and WHY, no reason is needed. */
struct semaphore {
	const char *name;
	const struct tsem_stat *stat;
	const struct reason *reason;
	bool remote; /* it is on a store, so it is no file, and has no tickets of ours */
};

/* A row of `show`. */
struct participant {
	const struct tsem_owner *owner;
	const struct remote *remote; /* NULL: /proc tells of the owner */
};

void participant_to_value(const struct participant *participant, enum show_column column, enum reader reader,
                          struct value *value);
void semaphore_to_value(const struct semaphore *semaphore, enum list_column column, enum reader reader,
                        struct value *value);

/* The cells of tables. */
void participant_to_cell(const struct participant *participant, enum show_column column, char text[CELL_BYTES_MAX]);
void semaphore_to_cell(const struct semaphore *semaphore, enum list_column column, char text[CELL_BYTES_MAX]);

/* The permits of a semaphore: "2 held", or "2 held (1 by dead holders)". */
void held_to_text(const struct tsem_stat *stat, const struct reason *reason, char text[64]);

/* The permits of dead holders, which no process has recovered yet. They are among those that are held. */
uint64_t dead_of(const struct tsem_stat *stat, const struct reason *reason);

/*
 * The permits that were posted beyond those taken. 0 if the creator has left that to posts: by no permits of its own,
 * or by a maximum that is not exceeded.
 */
uint64_t excess_of(const struct tsem_stat *stat);

void uuid_to_text(const unsigned char uuid[16], char text[37]);

/* ISO 8601 in UTC. */
void time_to_text(int64_t seconds, char text[32]);

/* Short: 5.2s, 3m20s, 2h05m. */
void duration_to_text(uint64_t ns, char text[24]);

void user_to_text(uid_t uid, char text[64]);

#endif
