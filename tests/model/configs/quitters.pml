/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. Two give up, one of them wanting two permits. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define SLOTS 4
#define ORPHANS
#include "../tsem.pml"

QUITTER(first, 2)
QUITTER(second, 1)
HOLDER(third, 2, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
