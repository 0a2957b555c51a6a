/* SPDX-License-Identifier: MIT */
/* Everybody who takes part in one play, and what the driver knows about who may have what. */
#ifndef TSEM_TESTS_CRASH_CAST_H
#define TSEM_TESTS_CRASH_CAST_H

#include "play.h"

struct cast {
	struct scene *scene;
	const struct plan *plan;
	struct played *played;
	const struct operation *operation[2];
	struct tracee actor[2];
	struct tracee parent[2];
	bool killed[2];
	pid_t other;
	pid_t dead;
	pid_t bystander;
	uint32_t drained; /* taken by the driver, to be given back */
	bool beside_drained;
	bool first_in_line;       /* when the second one began its operation, which it does as a whole */
	bool bystander_came_late; /* when a setter was through, and there is no other */
	bool restored;            /* the capacity, by the driver */
	bool abandoned;           /* a holder has died: somebody must be told */
	bool told;                /* somebody was who is not among the dead */

	/* How many more permits there are than the capacity says, by takes without a post and posts without a take:
	 * for certain, and possibly in addition, one for each actor that was killed half-way. */
	int64_t extra;
	int64_t maybe[2];
};

void cast_fault(struct cast *cast, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool
cast_has_failed(const struct cast *cast)
{
	return cast->played->verdict == PLAY_FAULT;
}

/* Somebody dies as part of the play, so that a sleeper may have to find out by itself. */
bool cast_somebody_dies(const struct plan *plan);

/* Whether one of the operations has one of the flags. */
bool cast_has(const struct cast *cast, unsigned flags);

/* The driver looks for the dead. */
void cast_recover(struct cast *cast);

/* The driver sets the capacity to what it was. */
void cast_restore_capacity(struct cast *cast);

/* Starts actor `i` and prepares it, up to where its operation begins. */
void cast_start(struct cast *cast, unsigned i);

/* Kills it where it stands, and notes what that leaves open. */
void cast_kill(struct cast *cast, unsigned i);
void cast_kill_parent(struct cast *cast, unsigned i);

/* The driver posts what it has taken. */
void cast_give_back(struct cast *cast);

/* Lets all that live go on to their ends, one at a time giving back what it has. */
void cast_settle(struct cast *cast);

/* Removes whoever is left, for the next play to start clean. */
void cast_end(struct cast *cast);

/* ---- books.c ---- */

/*
 * Whether `available` is `expected`, or one of the sums that the actors killed half-way leave possible; none at all, where
 * the capacity is below what is held.
 */
bool books_is_possible(struct cast *cast, int64_t available, int64_t expected);

/* Nobody may have more than there is: asked whenever somebody has completed its operation. */
void books_check_admitted(struct cast *cast);

/* After recovery, with the live holders standing still at the ends of their operations. */
void books_check_held(struct cast *cast);

/* After recovery, with everybody gone, and before the driver sets the capacity to what it was. */
void books_check_capacity(struct cast *cast);

/* books_close.c: after recovery, with everybody gone: the last word. */
void books_close(struct cast *cast);

#endif
