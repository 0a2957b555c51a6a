/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. The capacity goes from 1 to 0 between two holders. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define SLOTS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
SETS(setter, 0)

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
