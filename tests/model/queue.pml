/* SPDX-License-Identifier: MIT */
/* lib/queue/queue.c. Spinning is left out: it is only more looks. */

inline queue_mark_queued()
{
	if
	OR_DIE
	:: d_step { state_kind(state[r]) == STATE_CLAIMED -> rel_state = state[r] };
		STEP(CAS(state[r], rel_state, state_next(rel_state, STATE_QUEUED, ticket)); rel_state = 0)
	:: d_step { state_kind(state[r]) != STATE_CLAIMED -> skip }
	fi
}

#ifndef ORPHANS
#define give_up(n) skip
#else
/* After a deadline the process looks for dead owners and then at E, after a signal or a cancel only at E. */
inline give_up(n)
{
#ifdef RECOVERS_ON_TIMEOUT
	recover_from(ALL, false);
#endif
	LOOK(n, , abandon(n))
}

inline abandon(n)
{
#ifdef MUTANT_TICKET_TAKEN_BACK
	STEP(if
	     :: T == counter_word_make(counter_add(ticket, n), tag_make(r, state_arrival_phase(state[r]))) ->
		     T = counter_word_make(ticket, TAG_NONE);
		     ok = true;
		     waits_for[me] = 0
	     :: else
	     fi);
	if
	:: ok ->
		STEP(state[r] = state_next(state[r] ^ STATE_ARRIVAL_PHASE, STATE_IDLE, gen[r] + 1));
		STEP(owner[r] = 0);
		ok = false
	:: else ->
#endif
		STEP(owner[r] = owner_orphan(ticket); waits_for[me] = 0; entitled[me] = false);
#ifdef MUTANT_ORPHAN_NOTED_TOO_LATE
		recover_from(OWN, false);
		note_orphan(ticket);
		bump_after_note()
#else
		note_orphan(ticket);
		bump_after_note();
		recover_from(OWN, false)
#endif
#ifdef MUTANT_TICKET_TAKEN_BACK
	fi
#endif
}
#endif

/* A post leaves the orphans that its own waiter is to skip. */
#if defined(ORPHANS) && !defined(WITHOUT_POSTS)
#define skip_orphans_if_admitted() \
	if \
	:: ok -> recover_from(SKIP, false); ok = true \
	:: else \
	fi
#else
#define skip_orphans_if_admitted() skip
#endif

/* `ok`: admitted. */
inline queue_enter(n, has_deadline)
{
	record_claim(n);
	arrive_in_line(n, true);
	LOOK(n, , queue_wait(n, has_deadline));
	skip_orphans_if_admitted()
}

inline queue_wait(n, has_deadline)
{
	queue_mark_queued();
	wait_sleeping(n, has_deadline);
	if
	:: !ok && has_deadline -> give_up(n)
	:: else
	fi
}
