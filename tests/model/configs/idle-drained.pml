/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. Drained: a process waits until no process holds, while two enter the queue, and one of them
 * gives up.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#define ORPHANS
#define IDLERS
#include "../tsem.pml"

KEEPER(first, 1)
QUITTER(second, 1)
IDLER(third, PENDING_HOLDERS)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
