/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. The capacity goes from 1 to 0 and up again. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

TAKER(first, 1, 2)
SETS_TWICE(setter, 0, 1)

init { atomic { run first(0); run setter(1); run rest() } }
