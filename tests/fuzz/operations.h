/* SPDX-License-Identifier: MIT */
/* All operations on a semaphore. Each result must be one that tsem(3) documents. */
#ifndef TSEM_FUZZ_OPERATIONS_H
#define TSEM_FUZZ_OPERATIONS_H

#include "tsem.h"

enum { HOLDS_MAX = 4 };

struct session {
	tsem *sem;
	const char *name;
	tsem_hold holds[HOLDS_MAX]; /* a new hold replaces the oldest */
	size_t next;
};

/* Aborts at an error that tsem(3) does not document; otherwise returns it. */
int checked(const char *state, int rc);

/* The place for another hold. A hold that is there is released first, as a correct program would do. */
tsem_hold *another_hold(struct session *session);
tsem_hold *latest_hold(struct session *session);

extern const size_t operations_count;

void operate(struct session *session, size_t operation, uint32_t count);

#endif
