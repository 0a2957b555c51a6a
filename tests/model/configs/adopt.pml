/* SPDX-License-Identifier: MIT */
/* A child adopts its parent's hold while another process recovers. Up to two may die. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#define TRANSFERS
#ifndef LOCKS
#define WITHOUT_HOLD /* the child lives on: only a dead parent loses the hold, and no process waits for that */
#define KERNEL
#endif
#include "../tsem.pml"

proctype parent(byte me)
{
	LOCALS;
	acquire(1, false);
	STEP(forked_record = r; forked_ticket = ticket; forked = true);
	STEP_WHEN(dead[1], skip);
	reap(1, 1);
	END
}

proctype child(byte me)
{
	LOCALS;
	STEP_WHEN(forked || dead[0], skip);
	if
	:: forked ->
		r = forked_record;
		ticket = forked_ticket;
		adopt(1, 0);
		if
		:: ok ->
			STEP(PROMISE(living_not_robbed, HOLD_IS_OURS));
			EXIT
		:: else WITHOUT_HOLD
		fi
	:: else -> EXIT
	fi;
	END
}

RECOVERER(third)

init { atomic { run parent(0); run child(1); run third(2); KERNEL run rest() } }
