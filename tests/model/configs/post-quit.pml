/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. Two permits are posted at once, while a place between two waiters may be given up. */
#define PROCESSES 4
#define RECORDS 3
#define CAPACITY 0
#define SLOTS 4
#define ORPHANS
#include "../tsem.pml"

KEEPER(first, 1)
QUITTER(second, 1)
KEEPER(third, 1)
POSTER(fourth, 2, 1)

init { atomic { run first(0); run second(1); run third(2); run fourth(3); run rest() } }
