/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. The capacity goes from 1 to 0 while a holder releases and another process waits. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#define BEGINS(me) (me == 0 || first_has_arrived)
#include "../tsem.pml"

HOLDER(first, 1, 1)
KEEPER(second, 1)
SETS(setter, 0)

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
