/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The first two are threads of one process: the first releases what the second acquired, and then
 * the other way round, while both have the record in their entries. In between, the first uses the record once more, so
 * that its phases are again those in the second one's entry, and then for two permits. Another process arrives
 * meanwhile.
 */
#define THREADS
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define BEGINS(me) (me != 2 || passed > 0)

byte passed; /* how often the hold was passed to the other thread */
byte passed_record;
short passed_ticket;

#include "../tsem.pml"

inline pass(to, n)
{
	STEP(passed_record = r;
	     passed_ticket = ticket;
	     in_use[me] = in_use[me] - n;
	     in_use[to] = in_use[to] + n;
	     passed++)
}

inline receive(nth)
{
	STEP_WHEN(passed == nth, r = passed_record; ticket = passed_ticket)
}

proctype first(byte me)
{
	LOCALS;
	receive(1);
	release(1);
	acquire(1, false);
	release(1);
	acquire(2, false);
	pass(1, 2);
	END
}

proctype second(byte me)
{
	LOCALS;
	acquire(1, false);
	release(1);
	acquire(1, false);
	pass(0, 1);
	receive(2);
	release(2);
	acquire(1, false);
	release(1);
	END
}

HOLDER(third, 1, 1)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
