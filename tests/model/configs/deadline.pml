/* SPDX-License-Identifier: MIT */
/* A holder, and a waiter that looks for dead owners and then gives up. One may die. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define ORPHANS
#define CRASHES 1
#define RECOVERS_ON_TIMEOUT
#include "../tsem.pml"

HOLDER(first, 1, 2)
QUITTER(second, 1)

init { atomic { run first(0); run second(1); run rest() } }
