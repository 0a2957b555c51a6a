/* SPDX-License-Identifier: MIT */
/* Two holders and a recoverer. One may die. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
RECOVERER(third)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
