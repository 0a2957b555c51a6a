/* SPDX-License-Identifier: MIT */
/* A post that has announced itself may die, and another post comes after it; or another process may die. */
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
