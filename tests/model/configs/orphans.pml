/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two give up in the same record, while another process recovers it slowly. No permits at all. */
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
