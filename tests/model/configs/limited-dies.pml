/* SPDX-License-Identifier: MIT */
/* One may die. One permit, and at most one waits. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define WITHOUT_POSTS
#define MAX_WAITING 1
#include "../tsem.pml"

KEEPER(first, 1)
LIMITED(second, 1, false)
LIMITED(third, 1, false)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
