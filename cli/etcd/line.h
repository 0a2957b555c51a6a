/* SPDX-License-Identifier: MIT */
/* The line of one semaphore on etcd, as a process that wants its permits or holds them sees it. */
#ifndef TSEM_CLI_ETCD_LINE_H
#define TSEM_CLI_ETCD_LINE_H

#include "etcd/semaphore.h"

/* What a holder has been granted. */
struct granted {
	int64_t fence;
	bool recovered; /* an earlier holder died with its permits */
	size_t which;   /* with --any, the index of the semaphore */
	size_t slots_n;
	uint32_t slots[TSEM_SLOTS_MAX]; /* of all semaphores */
};

struct line {
	const struct semaphore_on_etcd *sem;
	const char *name;
	const char *id;  /* of the process: its lease, in keys */
	uint32_t count;  /* permits that it wants */
	size_t dead_max; /* of how many dead a grant tells at once */
	int64_t ticket;  /* the create revision of its key in waiters/; 0: it has none */

	/* The last view. */
	const json_t *answer;
	size_t at; /* the response that is its first one */
	int64_t revision;
	int config_error; /* 0, or that of config_read() */
	struct config config;
	bool holds;         /* the process does */
	bool shows_only_us; /* as the only holder */
	uint64_t held;      /* also by no recorded holder */
	struct taken taken;
	int64_t waiting;
	struct kv first;                     /* of the waiters; its key is NULL if that is not text */
	char predecessor_key[KEY_BYTES_MAX]; /* of the waiter in front; "": not known */
};

/* A key of the line: a folder, or "config" or "anonymous". */
void line_key(const struct line *line, const char *rest, char key[KEY_BYTES_MAX]);

/* The key of the process in a folder, such as "holders/". */
void line_own_key(const struct line *line, const char *folder, char key[KEY_BYTES_MAX]);

/* Adds what a view needs to what `txn` does. */
void line_add_view(const struct line *line, json_t *txn, const char *when);

/*
 * Reads the view whose first response has the index `at`. Returns the index after it. `answer` has to last as long as the
 * view is used. If the process is a holder, adds what it has to `*grant`.
 */
size_t line_read_view(struct line *line, const json_t *answer, size_t at, struct granted *grant);

/* Adds a grant, the value of a key in holders/, to `*grant`. False: it is none. */
bool grant_read(const struct kv *kv, struct granted *grant);

/* ---- by the last view ---- */

bool line_is_first(const struct line *line);

/* Whether the key of the process in held/ exists. */
bool line_is_noted(const struct line *line);

/* Whether the process could have its permits: it is the first waiter, or comes while none waits, and there is room. */
bool line_has_turn(const struct line *line);

/* The first waiter could have its permits if the process released its own. A request for several names does not count. */
bool line_has_successor(const struct line *line);

/* ---- parts of transactions ---- */

/*
 * Makes the process a holder, as `owner` describes it, if it is still its turn. In the line of the ticket, it gives up
 * its place there.
 */
void line_admit(const struct line *line, json_t *txn, const json_t *owner);

/* Admits the first waiter, if it still waits, to what the process leaves. */
void line_admit_successor(const struct line *line, json_t *txn);

/* Guards against any waiter. */
void line_expect_none(const struct line *line, json_t *txn);

/*
 * The process gives its permits back. The fence is that of this hold, so a late release cannot end a later one under the
 * same lease.
 */
void line_give_back(const struct line *line, json_t *txn, int64_t fence);

#endif
