/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The capacity goes from 1 to 0, while two permits are posted at once: they take E beyond the
 * ticket that the setter gives up.
 */
#define PROCESSES 2
#define RECORDS 1
#define CAPACITY 1
#define POSTED (-1) /* one permit is taken for ever */
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#include "../tsem.pml"

POSTER(first, 2, 1)
SETS(setter, 0)

init { atomic { run first(0); run setter(1); run rest() } }
