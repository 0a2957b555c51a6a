/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. As declared, and the process that is declared dead goes on with its cached record. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define DECLARES
#define BEGINS(me) (me == 0 || counter_diff(counter_value(T), COUNTER_START) >= 2)
#include "../tsem.pml"

HOLDER(first, 1, 3)
HOLDER(second, 1, 1)
DECLARER_OF(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
