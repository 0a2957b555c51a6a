/* SPDX-License-Identifier: MIT */
/* The queue: the way from a claimed record over a ticket to permits, shared by take and acquire. */
#ifndef TSEM_LIB_QUEUE_H
#define TSEM_LIB_QUEUE_H

#include "protocol/protocol.h"
#include "queue/wait.h"
#include "records/record.h"

/*
 * A place in the queue. The caller fills in the first three members and the waiter's count and options by
 * queue_request(); the functions below do the rest. The options must live as long as the place does.
 */
struct queue_place {
	struct tsem *sem;
	enum use use;
	struct waiter waiter;
	struct claim claim;
};

/* `options`: NULL for a try. */
struct queue_place queue_request(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options);

/* Waits without end, and reports no progress. */
extern const struct tsem_wait queue_for_ever;

/*
 * Copies the options of a caller of the interface; NULL means queue_for_ever. -EINVAL: the size, or an unknown member.
 */
int queue_options(const struct tsem_wait *wait, struct tsem_wait *options);

/* NULL, or a valid time. */
bool queue_is_deadline(const struct timespec *deadline);

/* -EINVAL: a count that can never be granted, a wrong flag or deadline. -EPERM: read-only. -EIDRM. */
int queue_check(const struct queue_place *place);

/* queue_join() and queue_wait(). */
int queue_enter(struct queue_place *place);

/* The same without waiting: -EAGAIN. */
int queue_try_enter(struct queue_place *place);

/* Claims a record and takes a ticket. */
int queue_join(struct queue_place *place);

/* Waits until the ticket is enabled. On failure the ticket has been given up. */
int queue_wait(struct queue_place *place);

/* Gives the ticket up, also if it is enabled by now: then its permits go back. */
void queue_leave(struct queue_place *place);

/*
 * The steps of queue_join(), for a caller that must do something else between them, or takes a ticket for any count.
 * -EUSERS: all records are in use, also after recovery. If no ticket can be taken, the record is unclaimed. Before
 * -EAGAIN it looks for dead owners.
 */
int queue_claim(struct queue_place *place);
int queue_take_ticket(struct queue_place *place, enum arrival how);

/* CLAIMED -> QUEUED, unless another process has done it: before a sleep, and before the ticket is given up. */
void queue_mark_queued(const struct queue_place *place);

/*
 * Of an enabled place: QUEUED, or HELD by a setter that lowered the capacity, -> `kind` with `value`, and the phases in
 * `flips` flipped. By compare-and-swap, because another process may skip the ticket if a user has declared this one
 * dead. `*state`: the new one. False: the ticket was skipped, and the place has been left.
 */
bool queue_become(struct queue_place *place, uint64_t flips, enum state_kind kind, uint64_t value, uint64_t *state);

#endif
