/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The first and the third waiter give up at once, as tsem_acquire_any() leaves a queue. Then the first
 * posts two permits, one for the second and one for the third. It posts as many as the array has words, so it skips orphans
 * after the move, whatever G's tag says. The second does not sleep.
 */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 0
#define ARRAY_WORDS 2
#define ORPHANS
#define WITHOUT_POSTS
#define BEGINS(me) counter_value(T) == counter_add(COUNTER_START, me)
#include "../tsem.pml"

/* queue_join_at_once() and queue_leave() */
inline leave_at_once()
{
	record_claim(1);
	arrive_in_line(1, true);
	queue_mark_queued();
	abandon(1)
}

proctype first(byte me)
{
	LOCALS;
	leave_at_once();
	post(2);
	END
}

proctype second(byte me)
{
	LOCALS;
	BEGINS(me);
	record_claim(1);
	arrive_in_line(1, true);
	queue_mark_queued();
	STEP_WHEN(ahead_of(ticket) >= 1, note_admission(ticket, 1));
	hold_become();
	END
}

proctype third(byte me)
{
	LOCALS;
	BEGINS(me);
	leave_at_once();
	END
}

init { atomic { run first(0); run second(1); run third(2); run rest() } }
