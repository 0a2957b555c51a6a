/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. One permit, and two that acquire it again and again. A record may be wanted at any moment. */
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
