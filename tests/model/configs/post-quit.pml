/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. A permit is posted, while a waiter in front of another one or behind it may give up. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#define ORPHANS
#include "../tsem.pml"

KEEPER(first, 1)
QUITTER(second, 1)
POSTER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
