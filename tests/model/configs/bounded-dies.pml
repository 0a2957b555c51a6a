/* SPDX-License-Identifier: MIT */
/* A post gives back only what was taken, although a taker or a holder may die at any step. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CRASHES 1
#define BOUNDED
#include "../tsem.pml"

TAKER(first, 2, 1)
HOLDER(second, 1, 1)
POSTER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
