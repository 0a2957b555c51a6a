/* SPDX-License-Identifier: MIT */
/*
 * One may die. As shared, with fewer permits. One waiter sleeps as a waiter for any of several semaphores does: on all
 * bits of the word.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#define CRASHES 1
#define ON_ALL_BITS 2
#include "../tsem.pml"

HOLDER(first, 2, 1)
HOLDER(second, 2, 1)
POSTER(third, 1, 2)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
