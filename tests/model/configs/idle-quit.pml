/* SPDX-License-Identifier: MIT */
/* Two wait for idleness, of which one gives up or dies, while a holder comes and goes. */
#define PROCESSES 3
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 4
#define IDLERS
#include "../tsem.pml"

HOLDER(first, 1, 1)
IDLER(second, PENDING_IDLE)
IDLE_QUITTER(third, PENDING_IDLE)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
