/* SPDX-License-Identifier: MIT */
/* Two takers and a holder, of which one may die: each take and each post happens or does not. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#include "../tsem.pml"

TAKER(first, 1, 1)
HOLDER(second, 1, 1)
TAKER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
