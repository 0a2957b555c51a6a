/* SPDX-License-Identifier: MIT */
/* The capacity goes from 1 to 0 and up to 2 beside a cached record. One may die, also half-way. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#define CRASHES 1
#define CACHES_RECORDS
#include "../tsem.pml"

HOLDER(first, 1, 3)
SETS_TWICE(setter, 0, 2)

init { atomic { run first(0); run setter(1); run rest() } }
