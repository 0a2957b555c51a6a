/* SPDX-License-Identifier: MIT */
/* Two holders, and a process that only tries and looks for dead owners before it fails. One may die. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define TRIES_RECOVER
#include "../tsem.pml"

HOLDER(first, 1, 1)
TRIER(second, 1)
HOLDER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
