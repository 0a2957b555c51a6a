/* SPDX-License-Identifier: MIT */
/* A semaphore that is in use all the time, and whether what a look at it says adds up. */
#ifndef TSEM_TEST_TRAFFIC_H
#define TSEM_TEST_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "tsem.h"

/* For a child: acquires one permit of the semaphore `arg` and releases it, without end. */
int acquire_again_and_again(void *arg);

/*
 * Takes a snapshot. Whether it is taken, its counts are those of the processes that it names, the waiters come in order, and all
 * permits make up `capacity`. Says what is wrong.
 */
bool snapshot_adds_up(tsem *sem, uint64_t capacity, struct tsem_stat *stat);

#endif
