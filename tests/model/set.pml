/* SPDX-License-Identifier: MIT */
/* lib/calls/set.c, in configurations that define SETTER. */

byte set_old[PROCESSES]; /* the capacity that this process replaced */
byte sets;               /* how often C was stored; counted after each store */

/*
 * set_store() and set_take_effect(). C is replaced by a CAS, so that each of two setters knows what it replaced. A
 * lowering needs a record, which is claimed before C changes.
 */
inline set_capacity(permits)
{
	claimed = false;
	do
	:: STEP(set_seen = sets; note_begin());
		STEP(set_old[me] = C);
		if
		:: permits < set_old[me] && !claimed ->
			record_claim(1);
			claimed = true
		:: else
		fi;
		if
		OR_DIE
		:: CAS_WORKS(C, set_old[me], permits, note_store(permits));
			break
		:: CAS_FAILS(C, set_old[me], skip)
		fi
	od;
#ifndef MUTANT_SETTERS_NOT_COUNTED
	STEP(sets++);
#endif
	bump_after_set();
	if
	:: permits < set_old[me] -> lower_capacity()
	:: else ->
		if
		:: claimed ->
			mark_idle();
			record_cache_or_free()
		:: else
		fi;
		raise_capacity()
	fi;
	claimed = false
}

/* A process that has moved E wakes waiters, and skips the orphans that E has come to. */
inline raise_capacity()
{
#ifndef MUTANT_RAISE_WITHOUT_SWEEP
	wake_all();
#endif
	set_seen = 0;
	recover_from(SKIP, false)
}

/*
 * Takes a ticket, so that every move of T that was decided with the old E has failed or happened. Then makes the
 * waiters HELD that were enabled, and gives the ticket up. If another setter has stored C as well, the waiters that
 * were enabled are not known any more. They are not made HELD, and are admitted later.
 */
inline lower_capacity()
{
#ifdef MUTANT_SETTER_DOES_NOT_ARRIVE
	STEP(ticket = counter_value(T));
#else
	arrive_in_line(1, false);
#endif
	STEP(set_grants = counter_value(G); take_effect());
#ifndef MUTANT_SETTER_DOES_NOT_ADMIT
	if
	OR_DIE
#ifdef MUTANT_SETTERS_NOT_COUNTED
	:: true ->
#else
	:: d_step { sets != set_seen + 1 -> skip }
	:: sets == set_seen + 1 ->
#endif
		do
		:: re_i < RECORDS ->
			admit(re_i);
			re_i++
		:: else -> break
		od;
		re_i = 0
	fi;
#endif
	set_grants = 0;
	set_seen = 0;
#ifdef MUTANT_SETTER_DOES_NOT_ARRIVE
	mark_idle();
	record_cache_or_free()
#else
	queue_mark_queued();
	STEP(owner[r] = owner_orphan(ticket));
	note_orphan(ticket);
	bump_after_note();
	recover_from(OWN, false)
#endif
}

#define is_before_setter(w) (state_kind(w) == STATE_QUEUED && counter_diff(state_value(w), ticket) < 0)

/*
 * A waiter may be falling asleep, so it is woken after the swap. If it gives up at the same time, it is an orphan in
 * the hint, and is found when E has come that far.
 */
inline admit(index)
{
	if
	OR_DIE
	:: d_step { !is_before_setter(state[index]) -> skip }
	:: d_step { is_before_setter(state[index]) -> rc_state = state[index] };
		STEP(mg_count = count[index]);
		if
		:: counter_diff(set_grants + set_old[me], state_value(rc_state)) >= mg_count ->
			if
			OR_DIE
			:: CAS_WORKS(state[index], rc_state, state_next(rc_state, STATE_HELD, state_value(rc_state)),
			             skip);
#ifndef MUTANT_ADMITTED_NOT_WOKEN
				wake_word(word_index(state_value(rc_state) + mg_count - 1), ALL_BITS)
#endif
			:: CAS_FAILS(state[index], rc_state, skip)
			fi
		:: else
		fi;
		rc_state = 0;
		mg_count = 0
	fi
}

/* ---- the witness ---- */

byte stores;                  /* of C, so far */
byte store_of[PROCESSES];     /* the number of this process's store */
byte replaced_by[PROCESSES];  /* the C that it replaced, if it lowered C and that has not taken effect */
byte effective;               /* the last store that has taken effect */
byte at_it = 255;             /* the process that sets the capacity now */
bool raced;                   /* two processes did so at the same time */

inline note_begin()
{
	raced = raced || (at_it != 255 && at_it != me);
	at_it = me
}

inline note_store(permits)
{
	stores++;
	store_of[me] = stores;
	replaced_by[me] = (set_old[me] > permits -> set_old[me] : 0);
	at_it = (permits < set_old[me] -> me : 255);
#ifdef CACHES_RECORDS
	p_ = 0;
	do
	:: p_ < PROCESSES -> most_C[p_] = (most_C[p_] > 0 && most_C[p_] <= permits -> permits + 1 : most_C[p_]); p_++
	:: else -> break
	od;
	p_ = 0;
#endif
	reckon_lowering()
}

/* The largest capacity that was replaced by a lowering that has not taken effect, and after which none has. */
inline reckon_lowering()
{
	lowering = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: store_of[p_] > effective && replaced_by[p_] > lowering -> lowering = replaced_by[p_]
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

/*
 * The waiters that were enabled are entitled to enter, others only below the new C; unless a later store took effect
 * before.
 */
inline take_effect()
{
	if
	:: store_of[me] > effective ->
		effective = store_of[me];
		p_ = 0;
		do
		:: p_ < PROCESSES ->
			if
			:: (waits_for[p_] > 0 && counter_diff(its_ticket[p_], ticket) < 0
			    && counter_diff(set_grants + set_old[me], its_ticket[p_]) >= waits_for[p_]) ->
				entitled[p_] = true
			:: else
			fi;
			p_++
		:: else -> break
		od;
		p_ = 0
	:: else
	fi;
	replaced_by[me] = 0;
	at_it = (at_it == me -> 255 : at_it);
	reckon_lowering()
}
