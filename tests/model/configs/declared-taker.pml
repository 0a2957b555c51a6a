/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. A taker that waits behind a holder is declared dead at any moment, and may have its permit. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define DECLARES
#define BEGINS(me) (me == 0 || first_has_arrived)
#include "../tsem.pml"

HOLDER(first, 1, 1)
TAKER(second, 1, 1)
DECLARER_OF(third, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
