/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. A post gives back only what was taken: beside a taker that posts and a holder, a third process posts
 * what it has not taken.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define BOUNDED
#include "../tsem.pml"

TAKER(first, 1, 1)
HOLDER(second, 1, 1)
POSTER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
