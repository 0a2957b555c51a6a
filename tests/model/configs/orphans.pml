/* SPDX-License-Identifier: MIT */
/* Two give up in the same record, while somebody recovers it slowly. No permits at all. */
#define PROCESSES 3
#define RECORDS 1
#define CAPACITY 0
#define ARRAY_WORDS 2
#define ORPHANS
#include "../tsem.pml"

QUITTER(first, 1)
QUITTER(second, 1)
RECOVERER_OF(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
