/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two permits are posted at once, while a place before or behind a waiter may be given up. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 4
#define ORPHANS
#include "../tsem.pml"

KEEPER(first, 1)
QUITTER(second, 1)
POSTER(third, 2, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
