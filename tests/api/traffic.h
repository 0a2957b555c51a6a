/* SPDX-License-Identifier: MIT */
/* A semaphore that is in use all the time, and a check of what is read from it. */
#ifndef TSEM_TEST_TRAFFIC_H
#define TSEM_TEST_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "tsem.h"

/* For a child: acquires and releases a permit of the semaphore `arg`, for ever. */
int acquire_again_and_again(void *arg);

/*
 * Takes a snapshot. Returns whether its counts are those of the processes that it names, the waiters are in order, and
 * the sum of all permits is `capacity`. Prints what is wrong.
 */
bool snapshot_adds_up(tsem *sem, uint64_t capacity, struct tsem_stat *stat);

#endif
