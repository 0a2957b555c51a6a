/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. One keeps its record, another gives up its place, and a third holds on. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define ORPHANS
#define CACHES_RECORDS
#define BEGINS(me) (me == 0 || first_has_arrived)
#include "../tsem.pml"

HOLDER(first, 1, 2)
LEAVER(second, 1)

init { atomic { run first(0); run second(1); run rest() } }
