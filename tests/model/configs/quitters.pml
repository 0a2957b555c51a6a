/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The first and the third in the queue give up; the second gets the permit that the first posts.
 */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 0
#define ARRAY_WORDS 4
#define ORPHANS
#define BEGINS(me) counter_value(T) == counter_add(COUNTER_START, me)
#include "../tsem.pml"

proctype first(byte me)
{
	LOCALS;
	acquire(1, true);
	post(1);
	END
}

KEEPER(second, 1)
LEAVER(third, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
