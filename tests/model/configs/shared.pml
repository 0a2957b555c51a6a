/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Waiters for two permits share a word of the waiting array, and permits come one by one. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#include "../tsem.pml"

HOLDER(first, 2, 1)
HOLDER(second, 2, 1)
POSTER(third, 1, 4)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
