/* SPDX-License-Identifier: MIT */
/* The holds of this process, for a semaphore whose permits come back when their holder is killed. */
#ifndef TSEM_POSIX_HOLDS_H
#define TSEM_POSIX_HOLDS_H

#include <stdbool.h>

#include "tsem.h"

struct holds;
struct place;

/* Whether the user wants holds for this name: TSEM_POSIX_HOLDS has patterns, which fnmatch() compares, with ':' between. */
bool holds_are_wanted(const char *posix);

/* NULL: no memory. */
struct holds *holds_new(void);
void holds_free(struct holds *holds);

/* A place for a hold, which no thread uses; NULL: no memory. */
struct place *holds_place(struct holds *holds);
tsem_hold *holds_of_place(struct place *place);

/* The place has a hold now. */
void holds_push(struct holds *holds, struct place *place);

/* Takes out the place of the newest hold; NULL: there is none. Async-signal-safe. */
struct place *holds_pop(struct holds *holds);

/* The place has no hold any more. Async-signal-safe. */
void holds_free_place(struct holds *holds, struct place *place);

/* There is no hold, and no thread has a place. False also if that cannot be told, because a thread changes it just now. */
bool holds_are_idle(struct holds *holds);

/* In a child of fork(): the holds are those of its parent. */
void holds_forget(struct holds *holds);

#endif
