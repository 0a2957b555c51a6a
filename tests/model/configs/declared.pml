/* SPDX-License-Identifier: MIT */
/*
 * A process that lives acquires and releases, and another one, which may die, declares it dead at any moment. A third
 * process acquires before or after it.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 4
#define DECLARES
#define BEGINS(me) (me != 2 || first_has_arrived)
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
DECLARER_OF(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
