/* SPDX-License-Identifier: MIT */
/*
 * Only by the lock: the first process closes its handle and keeps its hold, the second one has no lock, and another one
 * recovers. One may die.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 5
#define LOCKLESS 2
#define LOCKS
#include "../tsem.pml"

proctype first(byte me)
{
	LOCALS;
	acquire(1, false);
	presence_close();
	STEP(PROMISE(living_not_robbed, HOLD_IS_OURS));
	END
}

HOLDER(second, 1, 1)
RECOVERER(third)

init { atomic { run first(0); run second(1); run third(2); run kernel(); run rest() } }
