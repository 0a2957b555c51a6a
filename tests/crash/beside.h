/* SPDX-License-Identifier: MIT */
/* The two semaphores beside the one that the books are about: one permit each, for operations on several at once. */
#ifndef TSEM_TESTS_CRASH_BESIDE_H
#define TSEM_TESTS_CRASH_BESIDE_H

#include "cast.h"

void beside_open(struct scene *scene);
void beside_close(struct scene *scene);
void beside_reset(struct scene *scene);

/* What the process `driver` may have left behind of those of `capacity`. */
void beside_sweep_up(pid_t driver, uint32_t capacity);

/* The driver takes what they have, and posts it. */
void beside_drain(struct cast *cast);
void beside_give_back(struct cast *cast);

/* Actor `i`, the only one that uses them, is at its end: it has what it says, is in no line, and has nothing else. */
void beside_check_held(struct cast *cast, unsigned i);

/* Everybody is gone: what was acquired is there, nobody is in line, and no record is left. */
void beside_check(struct cast *cast);

/* The first record of `sem` that somebody uses, or has left as nobody may; NO_RECORD if there is none. */
uint32_t find_record_left(struct tsem *sem);

/* Whether whoever moves G looks after somebody who waits until nobody holds. */
bool is_waited_for_idleness(const struct tsem *sem);

#endif
