/* SPDX-License-Identifier: MIT */
/* Setting the capacity: design.md section 4, lower and raise. Read apart where a configuration asks for it. */

byte set_old[PROCESSES];

/* The capacity is exchanged, so that of two setters each knows what it replaced. */
inline set_capacity(permits)
{
	STEP(set_old[me] = C;
	     if
	     :: C > permits && C > lowering -> lowering = C
	     :: else
	     fi;
	     C = permits);
	if
	:: permits < set_old[me] -> lower()
	:: else -> raise()
	fi
}

/* Whoever moves E wakes, and passes over orphans that it reached. */
inline raise()
{
#ifndef MUTANT_RAISE_WITHOUT_SWEEP
	wake_everybody();
#endif
	recover_from(SKIP, false)
}

/*
 * Takes a ticket, so that every move of T decided on the old E has failed or happened; makes those HELD that were
 * enabled; gives its place up.
 */
inline lower()
{
#ifdef MUTANT_SETTER_DOES_NOT_ARRIVE
	STEP(ticket = word_counter(T));
#else
	record_claim(1);
	arrive_in_line(1, false);
#endif
	STEP(look_grants = word_counter(G); take_effect());
#ifndef MUTANT_SETTER_DOES_NOT_PROMOTE
	re_i = 0;
	do
	:: re_i < RECORDS ->
		promote(re_i);
		re_i++
	:: else -> break
	od;
	re_i = 0;
#endif
#ifndef MUTANT_SETTER_DOES_NOT_ARRIVE
	line_up();
	STEP(who[r] = who_orphan(ticket));
	note_orphan(ticket);
	recover_from(OWN, false)
#endif
}

/* The witness: whoever was enabled is entitled to enter, and nobody else beyond the new capacity. */
inline take_effect()
{
	lowering = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: (waits_for[p_] > 0 && counter_diff(its_ticket[p_], ticket) < 0
		    && counter_diff(look_grants + set_old[me], its_ticket[p_]) >= waits_for[p_]) ->
			entitled[p_] = true
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

/*
 * A waiter may fall asleep at the same time, so it is woken after the swap. One that gives up at the same time is an
 * orphan in the hint, and found there once the line has come that far.
 */
inline promote(index)
{
	STEP(rc_what = what[index]);
	if
	:: what_state(rc_what) == QUEUED && counter_diff(what_value(rc_what), ticket) < 0 ->
		STEP(mg_count = count[index]);
		if
		:: counter_diff(look_grants + set_old[me], what_value(rc_what)) >= mg_count ->
			STEP(CAS_OK(ok, what[index], rc_what, what_next(rc_what, HELD, what_value(rc_what)), skip));
			if
			:: ok ->
#ifndef MUTANT_PROMOTED_NOT_WOKEN
				wake_word(slot_index(what_value(rc_what) + mg_count - 1), ALL_BITS)
#else
				skip
#endif
			:: else
			fi
		:: else
		fi
	:: else
	fi;
	rc_what = 0;
	mg_count = 0
}
