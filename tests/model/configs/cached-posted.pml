/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. A cached record is used again and again beside a post, which finds its tag in G. */
#define PROCESSES 2
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define BEGINS(me) (me == 0 || counter_diff(counter_value(T), COUNTER_START) >= 2)
#include "../tsem.pml"

HOLDER(first, 1, 6)
POSTER(second, 1, 1)

init { atomic { run first(0); run second(1); run rest() } }
