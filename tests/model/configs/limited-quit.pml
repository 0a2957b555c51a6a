/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks, and no permit. One may give up waiting; then another comes, and a third one unless two wait. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 0
#define ARRAY_WORDS 2
#define ORPHANS
#define WITHOUT_POSTS
#define MAX_WAITING 2
#define BEGINS(me) (me == 0 || first_has_arrived)
#include "../tsem.pml"

LEAVER(first, 1)
KEEPER(second, 1)
LIMITED(third, 1, false)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
