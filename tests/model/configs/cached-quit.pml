/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. A process acquires and releases with a cached record, while another one gives up, or holds to
 * the end.
 */
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
