/* SPDX-License-Identifier: MIT */
/*
 * Only by the lock: a child adopts its parent's hold while another process recovers. The child locks its byte by its
 * copy of the parent's descriptor. Up to two may die.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#define TRANSFERS
#define LOCKS
#ifdef MUTANT_LOCK_ENDS_WITH_PARENT
#define DESCRIPTOR_IS_CLOSED(p) ((p) == 2 -> dead[2] : dead[0])
#else
#define DESCRIPTOR_IS_CLOSED(p) ((p) == 2 -> dead[2] : dead[0] && (!forked || dead[1]))
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
		:: else -> EXIT
		fi
	:: else -> EXIT
	fi;
	END
}

RECOVERER(third)

init { atomic { run parent(0); run child(1); run third(2); run kernel(); run rest() } }
