/* SPDX-License-Identifier: MIT */
/* The state of a keeper. */
#ifndef TSEM_CLI_ETCD_KEEPING_H
#define TSEM_CLI_ETCD_KEEPING_H

#include "etcd/claim.h"
#include "etcd/keeper.h"
#include "etcd/lease.h"

struct keeping {
	struct keeper *keeper;
	struct ledger *ledger;
	struct options options; /* with what -k all means */
	const struct options *o;
	struct semaphore_on_etcd sem;
	struct claim claim;
	struct lease lease;
	char holder_keys[NAMES_MAX][KEY_BYTES_MAX];
	bool leased;           /* the store knows the lease */
	uint64_t next_beat_ns; /* CLOCK_MONOTONIC */
	bool wrapper_gone;
	int timer; /* of CLOCK_BOOTTIME, because the machine may sleep */
};

/*
 * Lets the network go on until something happens, `tsem run` rings, one of the `n` descriptors is ready, or
 * CLOCK_MONOTONIC reaches `until_ns`. The first descriptor is left to this function.
 */
void keeping_step(struct keeping *k, struct curl_waitfd *fds, unsigned n, uint64_t until_ns);

/*
 * How long a keeper delays work that is not urgent, so that the command that a hand-over starts gets the processors and
 * the store first. With three members, 15 waiters and the commands on two processors, a hand-over takes 1.6 times as long
 * without the delay.
 */
enum { REST_MS = 10 };

/* Lets the network go on for REST_MS, or until `*urgent`, which may be NULL. */
void keeping_rest(struct keeping *k, const bool *urgent);

/* How long a request may take: so long that the keeper can still do what is due in the lifetime of its lease. */
uint64_t keeping_patience_ns(const struct keeping *k);

/* Until when the hold is certain enough for the command to run, CLOCK_BOOTTIME: a quarter of the lifetime is left then. */
uint64_t keeping_limit_ns(const struct keeping *k);

/* Tells `tsem run` that the ledger has changed. */
void keeping_ring(const struct keeping *k);

/* Gets a lease, and keeps it alive from now on. False: the store does not answer. */
bool keeping_lease(struct keeping *k);

/* The lease has ended, or is about to, and with it all its keys: begins anew, with another one to get. */
void keeping_renew(struct keeping *k);

/*
 * Waits until the store has confirmed the lease anew. False: it has ended, or `tsem run` has, or CLOCK_MONOTONIC has
 * reached `deadline_ns`.
 */
bool keeping_confirm(struct keeping *k, uint64_t deadline_ns);

/* Lets go of stderr. */
void keeping_detach(void);

/* Comes back with the permits. Otherwise exits with the status for `tsem run`. */
void keeper_acquire(struct keeping *k);

/* Makes the permits ones without a recorded holder. Dies if it is not known whether it has done that. */
void keeper_take(struct keeping *k);

/* Comes back when the command has ended. */
void keeper_hold(struct keeping *k);

void keeper_release(struct keeping *k);

#endif
