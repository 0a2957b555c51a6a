/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two set the capacity, 2 to 1 and to 0, the second beside the first, and one arrives. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#define WITHOUT_POSTS
#ifndef AT_ANY_MOMENT
#define BEGINS(me) (me == 1 || stores > 0)
#endif
#include "../tsem.pml"

KEEPER(first, 1)
SETS(second, 1)
SETS(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
