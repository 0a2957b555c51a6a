/* SPDX-License-Identifier: MIT */
/*
 * A waiter that is stopped, and so never notices anything, is declared dead. The process that declares it may die. The
 * capacity goes from 0 to 1.
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
DECLARER_OF(third, 0)

proctype second(byte me)
{
	LOCALS;
	BEGINS(me);
	record_claim(1);
	arrive_in_line(1, true);
	queue_mark_queued();
	over;
	END
}

init { atomic { run first(0); run second(1); run third(2); run rest() } }
