/* SPDX-License-Identifier: MIT */
/* Nobody dies, no ticks. One gives up its place while a holder releases; another waits before or behind it. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define SLOTS 2
#define ORPHANS
#define BEGINS(me) (me == 0 || the_first_came)
#include "../tsem.pml"

HOLDER(first, 1, 1)
QUITTER(second, 1)
KEEPER(third, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
