/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. No capacity, and one posted permit: a process waits until no process holds, and another may wait
 * to the end.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define POSTED 1
#define ARRAY_WORDS 2
#define IDLERS
#include "../tsem.pml"

HOLDER(first, 1, 1)
KEEPER(second, 1)
IDLER(third, PENDING_HOLDERS)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
