/* SPDX-License-Identifier: MIT */
/* Two more semaphores of one permit each, for operations on several semaphores at once. */
#ifndef TSEM_TESTS_CRASH_BESIDE_H
#define TSEM_TESTS_CRASH_BESIDE_H

#include "run.h"

void beside_open(struct fixture *fixture);
void beside_close(struct fixture *fixture);
void beside_reset(struct fixture *fixture);

/* Removes what a killed process `driver` may have left of those for `capacity`. */
void beside_clean_up_after(pid_t driver, uint32_t capacity);

/* The driver takes their permits, and posts them later. */
void beside_drain(struct run *run);
void beside_give_back(struct run *run);

/*
 * Executor `i` has ended its operation, and no other process uses these semaphores. Checks that it holds what it
 * should, and that no process waits.
 */
void beside_check_held(struct run *run, unsigned i);

/* All processes have ended: everything must be available, no process may wait, and no record may be left. */
void beside_check(struct run *run);

#endif
