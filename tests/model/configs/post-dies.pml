/* SPDX-License-Identifier: MIT */
/* One process may die, also a post that has announced itself; another post comes after it. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#define CRASHES 1
#include "../tsem.pml"

HOLDER(first, 1, 1)
POSTER(second, 1, 1)
POSTER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
