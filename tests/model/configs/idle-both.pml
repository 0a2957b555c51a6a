/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two wait for idleness, one of each kind, while a holder comes and goes. */
#define PROCESSES 3
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define IDLERS
#include "../tsem.pml"

HOLDER(first, 1, 1)
IDLER(second, PENDING_IDLE)
IDLER(third, PENDING_HOLDERS)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
