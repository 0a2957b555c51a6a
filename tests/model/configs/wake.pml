/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. One permit, and three that want it, one of them anonymously. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
TAKER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
