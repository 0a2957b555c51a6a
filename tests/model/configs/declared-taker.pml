/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. As in declared.pml, but for a taker, which may give up. */
#define PROCESSES 3
#define RECORDS 1
#define CAPACITY 0
#define ARRAY_WORDS 1
#define SETTER
#define ORPHANS
#define DECLARES
#define WITHOUT_POSTS
#define BEGINS(me) (me == 1 || counter_value(T) != COUNTER_START)
#include "../tsem.pml"

SETS(first, 1)
DECLARER_OF(third, 0)

proctype second(byte me)
{
	LOCALS;
	BEGINS(me);
	take(1, true);
	END
}

init { atomic { run first(0); run second(1); run third(2); run rest() } }
