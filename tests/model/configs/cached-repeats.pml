/* SPDX-License-Identifier: MIT */
/*
 * Nobody dies, no ticks. A kept record goes through its turns and into the next generation, while another process is
 * slow; a third posts, which makes a release go the long way.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define BEGINS(me) (me == 0 || counter_diff(counter_value(T), COUNTER_START) >= 2)
#include "../tsem.pml"

HOLDER(first, 1, 6)
HOLDER(second, 1, 1)
POSTER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
