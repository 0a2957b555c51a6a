/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. A process waits for idleness while a taker posts what it took, and another taker waits for that.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define IDLERS
#define TAKERS 3
#include "../tsem.pml"

TAKER(first, 1, 1)
TAKER(second, 1, 1)
IDLER(third, PENDING_IDLE)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
