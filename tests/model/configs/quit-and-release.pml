/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. One may give up, and two others hold and release, of which the last begins when another process
 * has a ticket. In quit.pml, all begin at any moment.
 */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define ORPHANS
#define WITHOUT_POSTS
#define BEGINS(me) (me != 2 || first_has_arrived)
#include "../tsem.pml"

HOLDER(first, 1, 1)
QUITTER(second, 1)
HOLDER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
