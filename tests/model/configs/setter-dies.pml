/* SPDX-License-Identifier: MIT */
/* The capacity goes from 2 to 0. One may die, and another ends without a release. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#define CRASHES 1
#define WITHOUT_POSTS
#include "../tsem.pml"

KEEPER(first, 1)
FORGETFUL(second, 1)
SETS(setter, 0)

init { atomic { run first(0); run second(1); run setter(2); run rest() } }
