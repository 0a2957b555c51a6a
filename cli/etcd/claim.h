/* SPDX-License-Identifier: MIT */
/*
 * A request for permits of one or several semaphores of a store, from its coming to its end. Each step is one transaction
 * over all of them, whose guards make a repeated or late request harmless. A QUEUE that arrives after the RELEASE is the
 * exception: the final revocation of the lease deletes its keys.
 *
 * With several semaphores, the request stands in all lines, and its tickets are one number, so the oldest request of all
 * is the first one in each of its lines: no two requests wait for each other.
 */
#ifndef TSEM_CLI_ETCD_CLAIM_H
#define TSEM_CLI_ETCD_CLAIM_H

#include "etcd/line.h"

enum { ID_BYTES = 17 };

struct claim {
	struct semaphore_on_etcd *sem;
	const struct options *o;
	bool any; /* of the semaphores; otherwise all of them */
	int64_t lease;
	char id[ID_BYTES]; /* the lease, in keys */
	pid_t pid;         /* of the holder or waiter that `tsem show` prints */
	pid_t command;     /* of the process that becomes the command */
	double since;      /* when it came, CLOCK_REALTIME */
	json_t *answer;    /* of the last view */
	bool was_over; /* the release found no hold: another process has released it, or an attempt whose answer was lost */
	size_t n;
	struct line lines[NAMES_MAX];
};

/* What a view shows. */
enum place {
	PLACE_UNKNOWN, /* the store has not answered */
	PLACE_NONE,    /* neither holder nor waiter; claim_error() may say why */
	PLACE_PART,    /* it stands in some of the lines, and not in the others */
	PLACE_WAITER,
	PLACE_HOLDER, /* `*grant` is set */
};

void claim_begin(struct claim *claim, struct semaphore_on_etcd *sem, const struct options *o, int64_t lease, pid_t pid,
                 pid_t command);
void claim_end(struct claim *claim);

enum place claim_look(struct claim *claim, struct granted *grant);

/* ---- by the last view ---- */

/* The first semaphore that is not one; NULL: each one is. */
const struct line *claim_first_bad(const struct claim *claim);

/* A number that changes if one of the semaphores is removed and created again; and which one is the newest. */
int64_t claim_incarnation(const struct claim *claim);
const struct line *claim_newest(const struct claim *claim);

/* Whether it could have its permits. */
bool claim_has_turn(const struct claim *claim);

/* ---- steps ---- */

/* Becomes a holder, whether it waits or not, if it still has its turn. False: it may have, or the view was too old. */
bool claim_grant(struct claim *claim, struct granted *grant);

/* From now on, the claim is for what it has been granted. */
void claim_settle(struct claim *claim, const struct granted *grant);

/* Becomes the last waiter of each line. If that is certain, it has tickets; otherwise the next view shows it. */
void claim_queue(struct claim *claim);

/*
 * A holder's permits become ones without a recorded holder. False: it is not known, or the number of these has changed
 * since the view.
 */
bool claim_take(struct claim *claim, const struct granted *grant);

/* Stops waiting. False: it has become a holder, or it is not known. */
bool claim_leave(struct claim *claim);

/* A holder reads a view in advance. If it shows no other holder, the release needs no read. */
void claim_foresee(struct claim *claim);

/*
 * A holder gives its permits back. If the first waiter of a single line can have them, grants them to it in the same
 * transaction, so that a hand-over is one commit and one event. False: not known.
 */
bool claim_release(struct claim *claim, const struct granted *grant);

#endif
