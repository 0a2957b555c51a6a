/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The capacity goes from 2 to 0 while one process holds to the end, and another takes and posts.
 */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

KEEPER(first, 1)
TAKER(second, 1, 1)
SETS(setter, 0)

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
