/* SPDX-License-Identifier: MIT */
/* The lease of a `tsem run`, and how long its hold is certain. */
#ifndef TSEM_CLI_ETCD_LEASE_H
#define TSEM_CLI_ETCD_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "etcd/wire.h"

struct lease {
	struct wire *wire;
	int64_t id;
	uint64_t ttl_ns;
	const char (*keys)[KEY_BYTES_MAX]; /* of the hold */
	size_t keys_n;
	bool existed;            /* when it was to be granted */
	bool holds;              /* the keys exist; without one of them, the hold is gone as well */
	bool rests;              /* it need not be certain, so nothing is read */
	bool missed;             /* the last read did not find them all */
	bool refused;            /* instead of the last answer came a refusal */
	bool gone;               /* the lease, or a key, says the store */
	bool keyless;            /* only a key */
	uint64_t valid_until_ns; /* CLOCK_BOOTTIME; 0: not yet */

	struct call *call; /* to keep it alive, then to read the keys; NULL: none is under way */
	bool reads;        /* the call, or the next one, is to read */
	size_t member;     /* that was asked to keep it alive */
	uint64_t sent_ns;
	uint64_t next_ns; /* CLOCK_MONOTONIC */
};

/* A number for a new lease. */
int64_t lease_choose(void);

/* Makes the store know the lease, or tries to until CLOCK_MONOTONIC reaches `deadline_ns`. */
enum outcome lease_grant(struct lease *lease, uint64_t deadline_ns);

/* Ends the lease, and so deletes its keys. */
enum outcome lease_revoke(struct lease *lease, uint64_t deadline_ns);

/* Keeps it alive: starts what is due, and looks at what is under way. Returns when to call it again, CLOCK_MONOTONIC. */
uint64_t lease_tick(struct lease *lease);

/* Whether it need not be certain until the next call. If it was not for some time, makes it certain soon. */
void lease_rest(struct lease *lease, bool rests);

/* Breaks off what is under way. */
void lease_stop(struct lease *lease);

/* CLOCK_BOOTTIME, which goes on while the machine sleeps. */
uint64_t boottime_ns(void);

#endif
