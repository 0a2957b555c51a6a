/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two permits, which some processes want both at once. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 4
#include "../tsem.pml"

HOLDER(first, 2, 1)
HOLDER(second, 1, 1)
TAKER(third, 2, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
