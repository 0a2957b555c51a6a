/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. One permit, and two who want it, the first again and again; the record may be wanted or not. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define MAY_BE_WANTED
#include "../tsem.pml"

HOLDER(first, 1, 3)
HOLDER(second, 1, 2)

init { atomic { run first(0); run second(1); run rest() } }
