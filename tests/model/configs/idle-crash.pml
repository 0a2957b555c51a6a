/* SPDX-License-Identifier: MIT */
/* A process waits for idleness. Of a holder and a taker one may die. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 3
#define IDLERS
#define TAKERS 2
#include "../tsem.pml"

HOLDER(first, 1, 1)
TAKER(second, 1, 1)
IDLER(third, PENDING_IDLE)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
