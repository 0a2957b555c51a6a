/* SPDX-License-Identifier: MIT */
/* Everything that can be done to a semaphore; each result must be one that the interface knows. */
#ifndef TSEM_FUZZ_OPERATIONS_H
#define TSEM_FUZZ_OPERATIONS_H

#include "tsem.h"

enum { HOLDS_MAX = 4 };

struct session {
	tsem *sem;
	const char *name;
	tsem_hold holds[HOLDS_MAX]; /* a newer one takes the place of the oldest */
	size_t next;
};

/* Aborts if it is an error that the interface does not know; otherwise returns it. */
int checked(const char *state, int rc);

/* The place for another hold; what stood there is given back first, as a program that means well would do. */
tsem_hold *another_hold(struct session *session);
tsem_hold *latest_hold(struct session *session);

extern const size_t operations_count;

void operate(struct session *session, size_t operation, uint32_t count);

#endif
