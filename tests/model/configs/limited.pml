/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. One permit, and three that come at any moment, of which at most one waits. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define WITHOUT_POSTS
#define MAX_WAITING 1
#include "../tsem.pml"

LIMITED(first, 1, false)
LIMITED(second, 1, false)
LIMITED(third, 1, false)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
