/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. A holder, behind it a waiter, and behind that a process that acquires and releases, the second
 * time on the fast path. Then the capacity goes from 3 to 0, while another setter is about to count its store of 4.
 */
#define PROCESSES 4
#define RECORDS 3
#define CAPACITY 3
#define POSTED (-1) /* one permit is taken for ever */
#define ARRAY_WORDS 2
#define SETTER
#define ORPHANS
#define CACHES_RECORDS
#define arrived counter_diff(counter_value(T), COUNTER_START)
#define BEGINS(me) (arrived >= (me < 2 -> me : 3) && (me != 2 || stores > 0))
#define WITHOUT_POSTS
#include "../tsem.pml"

KEEPER(first, 1)
HOLDER(second, 1, 2)
SETS(third, 0)
SETS(fourth, 4)

init { atomic { run first(0); run second(1); run third(2); run fourth(3); run rest() } }
