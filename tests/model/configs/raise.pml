/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. The capacity goes from 0 to 1 while a permit is posted; a waiter needs both. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 0
#define ARRAY_WORDS 2
#define SETTER
#define ORPHANS
#include "../tsem.pml"

HOLDER(first, 2, 1)
POSTER(second, 1, 1)
SETS(setter, 1)

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
