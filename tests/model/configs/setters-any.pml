/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two set the capacity, 2 to 1 and to 0, and one arrives, at any moment. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

KEEPER(first, 1)
SETS(second, 1)
SETS(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
