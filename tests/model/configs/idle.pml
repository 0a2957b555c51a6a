/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. A process waits for idleness while two come and go, of which one may give up in the queue. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define ORPHANS
#define IDLERS
#include "../tsem.pml"

HOLDER(first, 1, 1)
QUITTER(second, 1)
IDLER(third, PENDING_IDLE)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
