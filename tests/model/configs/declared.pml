/* SPDX-License-Identifier: MIT */
/*
 * A waiter that lives is declared dead at any moment, and skipped once the capacity goes from 0 to 1, or it is
 * admitted. The process that declares it may die.
 */
#define PROCESSES 3
#define RECORDS 1
#define CAPACITY 0
#define ARRAY_WORDS 1
#define CRASHES 1
#define MORTAL 4
#define SETTER
#define ORPHANS
#define DECLARES
#define WITHOUT_POSTS
#define BEGINS(me) (me == 1 || counter_value(T) != COUNTER_START)
#include "../tsem.pml"

SETS(first, 1)
KEEPER(second, 1)
DECLARER_OF(third, 0)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
