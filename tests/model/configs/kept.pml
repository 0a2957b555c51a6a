/* SPDX-License-Identifier: MIT */
/* Records kept between uses, by two who may die. Counts of 1 and 2. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 2
#define SLOTS 2
#define CRASHES 1
#define KEEPS_RECORDS
#include "../tsem.pml"

HOLDER(first, 2, 3)
HOLDER(second, 1, 2)

init { atomic { run first(0); run second(1); run rest() } }
