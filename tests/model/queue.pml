/* SPDX-License-Identifier: MIT */
/* lib/record.c, lib/queue.c, lib/take.c, lib/hold.c: what the public calls do. */

#if RECORDS == 1
#define FREE_EXISTS (who[0] == 0)
#elif RECORDS == 2
#define FREE_EXISTS (who[0] == 0 || who[1] == 0)
#elif RECORDS == 3
#define FREE_EXISTS (who[0] == 0 || who[1] == 0 || who[2] == 0)
#else
#define FREE_EXISTS (who[0] == 0 || who[1] == 0 || who[2] == 0 || who[3] == 0)
#endif

/* IDLE -> CLAIMED; all else is written. */
inline record_fill()
{
	STEP(PROMISE(claimed_was_idle, what_state(what[r]) == IDLE && who[r] == who_owner(me)); gen[r] = what_value(what[r]));
	STEP(what[r] = what_next(what[r], CLAIMED, what_value(what[r])))
}

/* The free record with the lowest number: reused as soon as can be, which is what the protocol has to stand. */
inline record_search()
{
	STEP_WHEN(FREE_EXISTS,
	          r = 0;
	          do
	          :: who[r] != 0 -> r++
	          :: else -> break
	          od;
	          who[r] = who_owner(me))
}

#ifndef KEEPS_RECORDS
inline record_claim(n)
{
	record_search();
	STEP(count[r] = n);
	record_fill()
}

inline record_keep_or_free()
{
	STEP(who[r] = 0)
}
#endif

/* CLAIMED -> IDLE, no ticket taken: the faces stay. */
inline record_unfill()
{
	STEP(PROMISE(nobody_robbed, what_state(what[r]) == CLAIMED);
	     what[r] = what_next(what[r], IDLE, what_value(what[r]) + 1))
}

inline line_up()
{
	if
	OR_DIE
	:: d_step { what_state(what[r]) == CLAIMED -> rel_what = what[r] };
		STEP(CAS(what[r], rel_what, what_next(rel_what, QUEUED, ticket)); rel_what = 0)
	:: d_step { what_state(what[r]) != CLAIMED -> skip }
	fi
}

#ifndef ORPHANS
#define give_up(n) skip
#else
/* Leaves the line. After a deadline it looks for dead owners and at E once more; after a signal or a cancel only at E. */
inline give_up(n)
{
#ifdef RECOVERS_ON_TIMEOUT
	recover_from(EVERYBODY, false);
#endif
	LOOK(n, , leave_the_line(n))
}

inline leave_the_line(n)
{
#ifdef MUTANT_TICKET_TAKEN_BACK
	STEP(if
	     :: T == word_make(counter_add(ticket, n), tag_make(r, what_a(what[r]))) ->
		     T = word_make(ticket, TAG_NONE);
		     ok = true;
		     waits_for[me] = 0
	     :: else
	     fi);
	if
	:: ok ->
		STEP(what[r] = what_next(what[r] ^ WHAT_A, IDLE, gen[r] + 1));
		STEP(who[r] = 0);
		ok = false
	:: else ->
#endif
		STEP(who[r] = who_orphan(ticket); waits_for[me] = 0; entitled[me] = false);
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

#define THE_RECORD_IS_OURS \
	(who[r] == who_owner(me) \
	 && (what_state(what[r]) == CLAIMED \
	     || ((what_state(what[r]) == QUEUED || what_state(what[r]) == HELD) && what_value(what[r]) == ticket)))

/* That are next now: a post leaves them there. */
#if defined(ORPHANS) && !defined(WITHOUT_POSTS)
#define skip_orphans_behind() \
	if \
	:: ok -> recover_from(SKIP, false); ok = true \
	:: else \
	fi
#else
#define skip_orphans_behind() skip
#endif

/* queue_enter() up to the admission; `ok`: admitted. */
inline queue_enter(n, has_deadline)
{
	record_claim(n);
	arrive_in_line(n, true);
	LOOK(n, , stand_in_line(n, has_deadline));
	skip_orphans_behind()
}

/* The spinning is left out: it is only more looks. */
inline stand_in_line(n, has_deadline)
{
	line_up();
	wait_until_enabled(n, has_deadline);
	if
	:: !ok && has_deadline -> give_up(n)
	:: else
	fi
}

inline become_holder()
{
	STEP(PROMISE(nobody_robbed, THE_RECORD_IS_OURS); rel_what = what[r]);
#ifdef MUTANT_HELD_IS_A_COMPARISON
	STEP(is_holder[me] = true);
#else
	STEP(what[r] = what_next(rel_what, HELD, ticket); is_holder[me] = true);
#endif
	rel_what = 0
}

inline acquire_in_line(n, has_deadline)
{
	queue_enter(n, has_deadline);
	if
	:: ok -> become_holder()
	:: else
	fi
}

#ifndef KEEPS_RECORDS
#define acquire(n, has_deadline) acquire_in_line(n, has_deadline)
#define try_acquire(n) acquire_or_fail(n)
#endif

inline acquire_or_fail(n)
{
	record_claim(n);
	arrive_if_enabled(n, tag_make(r, what_a(what[r])));
#ifdef TRIES_RECOVER
	if
	:: !ok ->
		recover_from(EVERYBODY, false);
		arrive_if_enabled(n, tag_make(r, what_a(what[r])))
	:: else
	fi;
#endif
	if
	:: ok -> become_holder()
	:: else ->
		record_unfill();
		record_keep_or_free()
	fi
}

#ifdef MUTANT_HELD_IS_A_COMPARISON
#define THE_HOLD_IS_OURS THE_RECORD_IS_OURS
#else
#define THE_HOLD_IS_OURS (who[r] == who_owner(me) && what_state(what[r]) == HELD && what_value(what[r]) == ticket)
#endif

inline begin_own_release(n)
{
	STEP(PROMISE(nobody_robbed, THE_HOLD_IS_OURS);
	     rel_what = what_next(what[r], RELEASING, ticket);
	     what[r] = rel_what;
	     is_holder[me] = false;
	     in_use[me] = in_use[me] - n)
}

inline release_the_long_way()
{
	move_grant(r, rel_what);
	if
	:: mg_mine -> STEP(what[r] = what_released(rel_what, gen[r]))
	:: else
	fi;
	rel_what = 0;
	record_keep_or_free();
	after_grant()
}

#ifndef KEEPS_RECORDS
inline release(n)
{
	begin_own_release(n);
	release_the_long_way()
}
#endif

/* The slow road of a take, admitted: from the store on the permits are nobody's. */
inline forget_owner(n)
{
	STEP(PROMISE(nobody_robbed, THE_RECORD_IS_OURS); rel_what = what[r]);
	STEP(what[r] = what_next(rel_what ^ WHAT_A, IDLE, gen[r] + 1);
	     in_use[me] = in_use[me] - n;
	     anonymous = anonymous + n);
	rel_what = 0;
	record_keep_or_free()
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
