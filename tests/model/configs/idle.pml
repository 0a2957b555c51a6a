/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. One waits until nobody holds or waits; two come and go, one of whom may give up in line. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define ORPHANS
#define IDLERS
#include "../tsem.pml"

HOLDER(first, 1, 1)
QUITTER(second, 1)
IDLER(third, PENDING_IDLE)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
