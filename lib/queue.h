/* SPDX-License-Identifier: MIT */
/* Standing in line: the way from a claimed record to an enabled ticket, shared by take and acquire. */
#ifndef TSEM_LIB_QUEUE_H
#define TSEM_LIB_QUEUE_H

#include "record.h"
#include "wait.h"

/* A record with a ticket; once that is enabled, the state says HELD or still QUEUED. */
struct queue_place {
	struct claim claim;
	struct waiter waiter;
};

/* -EINVAL for a count that could never be granted, or structures that this library does not know. -EPERM: read-only. */
int queue_check(const struct tsem *sem, uint32_t count, const struct tsem_wait *options);

/* How to wait, as a caller of the interface put it: NULL is for ever, and without a word. */
const struct tsem_wait *queue_options(const struct tsem_wait *wait);

/* NULL, or a time in normal form. */
bool queue_is_deadline(const struct timespec *deadline);

/* What `options->deadline` says, in ns; NS_FOREVER for none. */
uint64_t queue_deadline(const struct timespec *deadline);

/*
 * Claims a record without waiting for one. Looks for dead owners before it fails. `until`: the end of the wait for a
 * ticket, as the record tells it.
 */
int queue_claim_at_once(struct tsem *sem, uint32_t count, enum use use, uint64_t until, struct claim *claim);

/* A ticket for the claimed record, in line. On failure the record is unclaimed. */
int queue_take_ticket(struct tsem *sem, struct queue_place *place);

/* Claims a record and takes a ticket. `options` is needed as long as the place is. */
int queue_join(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
               struct queue_place *place);

/* The same without waiting for a record, for those who stand in another line already: -EUSERS. */
int queue_join_at_once(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
                       struct queue_place *place);

/* From the place in line to an enabled ticket. On failure the place has been given up. */
int queue_wait(struct tsem *sem, struct queue_place *place);

/* Gives the place up, also if it has been enabled by now: then the permits go back. */
void queue_leave(struct tsem *sem, struct queue_place *place);

/* CLAIMED -> QUEUED, by us or by whoever came next: before a sleep, and before the place is given up. */
void queue_mark_queued(const struct queue_place *place);

/* queue_join() and queue_wait(). */
int queue_enter(struct tsem *sem, uint32_t count, enum use use, const struct tsem_wait *options,
                struct queue_place *place);

/* The same without waiting: -EAGAIN. Looks for dead owners before it fails. */
int queue_try_enter(struct tsem *sem, uint32_t count, enum use use, struct queue_place *place);

#endif
