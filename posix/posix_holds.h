/* SPDX-License-Identifier: MIT */
/* The holds of this process, for a semaphore whose permits come back when their holder is killed. */
#ifndef TSEM_POSIX_HOLDS_H
#define TSEM_POSIX_HOLDS_H

#include <stdbool.h>

#include "tsem.h"

struct holds;

/* Whether the user wants holds for this name: TSEM_POSIX_HOLDS has patterns, which fnmatch() compares, with ':' between. */
bool holds_are_wanted(const char *posix);

/* NULL: no memory. */
struct holds *holds_new(void);
void holds_free(struct holds *holds);

/* Keeps a hold. False: no memory. */
bool holds_push(struct holds *holds, const tsem_hold *hold);

/* Takes a hold out, the newest one, or returns false: there is none. Async-signal-safe. */
bool holds_pop(struct holds *holds, tsem_hold *hold);

bool holds_are_empty(const struct holds *holds);

/* In a child of fork(): the holds are those of its parent. */
void holds_forget(struct holds *holds);

#endif
