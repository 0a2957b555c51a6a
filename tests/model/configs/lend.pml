/* SPDX-License-Identifier: MIT */
/* A hold is lent to a process that may end at any time, and comes back or is recovered. Up to two may die. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#define TRANSFERS
#include "../tsem.pml"

proctype lender(byte me)
{
	LOCALS;
	acquire(1, false);
	hand_over(1, 1);
	end_loan(1, 1);
	acquire(1, false);
	release(1);
	END
}

proctype command(byte me)
{
	LOCALS;
	EXIT;
	END
}

RECOVERER(third)

init { atomic { run lender(0); run command(1); run third(2); run rest() } }
