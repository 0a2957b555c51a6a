/* SPDX-License-Identifier: MIT */
/* lib/record.c, lib/queue.c, lib/take.c, lib/hold.c: what the public calls do. */

#if RECORDS == 1
#define FREE_EXISTS (owner[0] == 0)
#elif RECORDS == 2
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0)
#elif RECORDS == 3
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0 || owner[2] == 0)
#else
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0 || owner[2] == 0 || owner[3] == 0)
#endif

/* IDLE -> CLAIMED; all else is written. */
inline mark_claimed()
{
	STEP(PROMISE(claimed_was_idle, state_kind(state[r]) == STATE_IDLE && owner[r] == owner_process(me)); gen[r] = state_value(state[r]));
	STEP(state[r] = state_next(state[r], STATE_CLAIMED, state_value(state[r])))
}

/* The free record with the lowest number: reused as soon as can be, which is what the protocol has to stand. */
inline search()
{
	STEP_WHEN(FREE_EXISTS,
	          r = 0;
	          do
	          :: owner[r] != 0 -> r++
	          :: else -> break
	          od;
	          owner[r] = owner_process(me))
}

#ifndef CACHES_RECORDS
inline record_claim(n)
{
	search();
	STEP(count[r] = n);
	mark_claimed()
}

inline record_cache_or_free()
{
	STEP(owner[r] = 0)
}
#endif

/* CLAIMED -> IDLE, no ticket taken: the faces stay. */
inline mark_idle()
{
	STEP(PROMISE(living_not_robbed, state_kind(state[r]) == STATE_CLAIMED);
	     state[r] = state_next(state[r], STATE_IDLE, state_value(state[r]) + 1))
}

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
/* Leaves the line. After a deadline it looks for dead owners and at E once more; after a signal or a cancel only at E. */
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
		note_orphan(ticket)
#else
		note_orphan(ticket);
		stir_after_note();
		recover_from(OWN, false)
#endif
#ifdef MUTANT_TICKET_TAKEN_BACK
	fi
#endif
}
#endif

#define RECORD_IS_OURS \
	(owner[r] == owner_process(me) \
	 && (state_kind(state[r]) == STATE_CLAIMED \
	     || ((state_kind(state[r]) == STATE_QUEUED || state_kind(state[r]) == STATE_HELD) && state_value(state[r]) == ticket)))

/* That are next now: a post leaves them there. */
#if defined(ORPHANS) && !defined(WITHOUT_POSTS)
#define skip_orphans_if_admitted() \
	if \
	:: ok -> recover_from(SKIP, false); ok = true \
	:: else \
	fi
#else
#define skip_orphans_if_admitted() skip
#endif

/* queue_enter() up to the admission; `ok`: admitted. */
inline queue_enter(n, has_deadline)
{
	record_claim(n);
	arrive_in_line(n, true);
	LOOK(n, , queue_wait(n, has_deadline));
	skip_orphans_if_admitted()
}

/* The spinning is left out: it is only more looks. */
inline queue_wait(n, has_deadline)
{
	queue_mark_queued();
	sleep_until_enabled(n, has_deadline);
	if
	:: !ok && has_deadline -> give_up(n)
	:: else
	fi
}

inline hold_become()
{
	STEP(PROMISE(living_not_robbed, RECORD_IS_OURS); rel_state = state[r]);
#ifdef MUTANT_HELD_IS_A_COMPARISON
	STEP(is_holder[me] = true);
#else
	STEP(state[r] = state_next(rel_state, STATE_HELD, ticket); is_holder[me] = true);
#endif
	rel_state = 0
}

inline acquire_slow(n, has_deadline)
{
	queue_enter(n, has_deadline);
	if
	:: ok -> hold_become()
	:: else
	fi
}

#ifndef CACHES_RECORDS
#define acquire(n, has_deadline) acquire_slow(n, has_deadline)
#define try_acquire(n) try_acquire_slow(n)
#endif

inline try_acquire_slow(n)
{
	record_claim(n);
	arrive_if_enabled(n, tag_make(r, state_arrival_phase(state[r])));
#ifdef TRIES_RECOVER
	if
	:: !ok ->
		recover_from(ALL, false);
		arrive_if_enabled(n, tag_make(r, state_arrival_phase(state[r])))
	:: else
	fi;
#endif
	if
	:: ok -> hold_become()
	:: else ->
		mark_idle();
		record_cache_or_free()
	fi
}

#ifdef MUTANT_HELD_IS_A_COMPARISON
#define HOLD_IS_OURS RECORD_IS_OURS
#else
#define HOLD_IS_OURS (owner[r] == owner_process(me) && state_kind(state[r]) == STATE_HELD && state_value(state[r]) == ticket)
#endif

inline begin_own_release(n)
{
	STEP(PROMISE(living_not_robbed, HOLD_IS_OURS);
	     rel_state = state_next(state[r], STATE_RELEASING, ticket);
	     state[r] = rel_state;
	     is_holder[me] = false;
	     in_use[me] = in_use[me] - n)
}

inline release_slow()
{
	move_grants(r, rel_state);
	if
	:: mg_mine -> STEP(state[r] = state_released(rel_state, gen[r]))
	:: else
	fi;
	rel_state = 0;
	record_cache_or_free();
	grant_notify()
}

#ifndef CACHES_RECORDS
inline release(n)
{
	begin_own_release(n);
	release_slow()
}
#endif

/* The slow road of a take, admitted: from the store on the permits are nobody's. */
inline forget_owner(n)
{
	STEP(PROMISE(living_not_robbed, RECORD_IS_OURS); rel_state = state[r]);
	STEP(state[r] = state_next(rel_state ^ STATE_ARRIVAL_PHASE, STATE_IDLE, gen[r] + 1);
	     in_use[me] = in_use[me] - n;
	     anonymous = anonymous + n);
	rel_state = 0;
	record_cache_or_free()
}

inline take(n, has_deadline)
{
	arrive_if_enabled(n, TAG_NONE);
	if
	:: ok
	:: else ->
		queue_enter(n, has_deadline);
		if
		:: ok -> forget_owner(n)
		:: else
		fi
	fi
}
