/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. No capacity; two permits are posted for a holder that releases and a taker that posts. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#include "../tsem.pml"

HOLDER(first, 1, 1)
TAKER(second, 1, 1)
POSTER(third, 1, 2)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
