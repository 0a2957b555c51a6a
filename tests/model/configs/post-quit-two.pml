/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two permits are posted at once, while the second of two waiters may give up. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 4
#define ORPHANS
#define BEGINS(me) counter_diff(counter_value(T), COUNTER_START) >= me
#include "../tsem.pml"

KEEPER(first, 1)
LEAVER(second, 1)
POSTER(third, 2, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
