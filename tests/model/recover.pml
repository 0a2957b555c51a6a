/* SPDX-License-Identifier: MIT */
/* lib/recover.c. Whether a process is dead is read from where the kernel keeps it, so it is a step, too. */

inline recover_claimed(index)
{
	STEP(rc_tickets = T);
	if
	:: word_tag(rc_tickets) == tag_make(index, what_a(rc_what)) -> finish_arrival(rc_tickets)
	:: else -> STEP(CAS(what[index], rc_what, what_next(rc_what, IDLE, what_value(rc_what) + 1)))
	fi;
	rc_tickets = 0
}

inline recover_record(index)
{
	STEP(rc_who = who[index]);
#ifdef MUTANT_WHAT_READ_BEFORE_DEATH_KNOWN
	STEP(rc_what = what[index]);
#endif
	if
	:: rc_who == 0
	:: else ->
		STEP(rc_dead = (who_is_orphan(rc_who) || dead[who_process(rc_who)]));
		if
		:: !rc_dead && !who_is_handed(rc_who)
		:: else ->
			do
			::
#ifdef MUTANT_WHAT_READ_BEFORE_DEATH_KNOWN
				if
				:: rc_what == -1 -> STEP(rc_what = what[index])
				:: else
				fi;
#else
				STEP(rc_what = what[index]);
#endif
#ifndef MUTANT_WHO_NOT_CHECKED_AGAIN
				STEP(ok = (who[index] == rc_who));
				if
				:: !ok -> break
				:: else
				fi;
#endif
				if
				:: what_state(rc_what) == IDLE ->
					STEP(CAS(who[index], rc_who, 0));
					break
				:: what_state(rc_what) == CLAIMED ->
					if
					:: rc_dead -> recover_claimed(index)
					:: else -> break
					fi
				:: what_state(rc_what) == QUEUED ->
					load_limit(rc_limit);
					if
					:: !rc_dead || counter_diff(rc_limit, what_value(rc_what)) < 0 -> break
					:: else -> STEP(CAS(what[index], rc_what, what_next(rc_what, RELEASING, what_value(rc_what))))
					fi
				:: what_state(rc_what) == HELD ->
					if
					:: rc_dead -> STEP(CAS(what[index], rc_what, what_next(rc_what, RELEASING, what_value(rc_what))))
					:: else -> break
					fi
				:: what_state(rc_what) == RELEASING ->
					release_for_owner(index, rc_what);
					wake_enabled()
				fi;
#ifdef MUTANT_WHAT_READ_BEFORE_DEATH_KNOWN
				rc_what = -1
#endif
			od
		fi
	fi;
	rc_who = 0;
	rc_what = 0;
	rc_limit = 0;
	rc_dead = false;
	ok = false
}

/* ---- the front of the line: `places` has 5 bits for each record, 16 | ticket ---- */

#define place_of(i) ((places >> ((i) * 5)) & 31)

/* The first of the places in line, into front_index; RECORDS if there is none. */
inline first_place(origin)
{
	d_step {
		front_index = RECORDS;
		i_ = 0;
		do
		:: i_ < RECORDS ->
			if
			:: place_of(i_) == 0
			:: else ->
				if
				:: front_index == RECORDS -> front_index = i_
				:: else ->
					if
					:: counter_diff(place_of(i_) & 15, origin) < counter_diff(place_of(front_index) & 15, origin) ->
						front_index = i_
					:: else
					fi
				fi
			fi;
			i_++
		:: else -> break
		od;
		i_ = 0
	}
}

hidden byte i_;

/* Passes over the dead among the places in line, up to the first live one. */
inline recover_front()
{
#ifdef ORPHANS
	STEP(front_hint = hint);
#endif
	places = 0;
	re_i = 0;
	do
	:: re_i < RECORDS ->
		STEP(front_what = what[re_i];
		     if
		     :: what_state(front_what) == QUEUED -> places = places | ((16 | what_value(front_what)) << (re_i * 5))
		     :: else
		     fi;
		     front_what = 0;
		     re_i++)
	:: else -> break
	od;
	re_i = 0;
	do
	:: first_place(COUNTER_START);
		if
		:: front_index == RECORDS -> break
		:: else
		fi;
		load_limit(front_limit);
		if
		:: counter_diff(front_limit, place_of(front_index) & 15) < 0 -> break
		:: else
		fi;
		recover_record(front_index);
		STEP(ok = (what_state(what[front_index]) == QUEUED
		           && what_value(what[front_index]) == (place_of(front_index) & 15)));
		if
		:: ok ->
			STEP(mg_count = count[front_index]);
			load_limit(front_limit);
			if
			:: counter_diff(front_limit, place_of(front_index) & 15) < mg_count -> break
			:: else
			fi
		:: else
		fi;
		places = places & ~(31 << (front_index * 5))
	od;
	places = 0;
	front_index = 0;
	front_limit = 0;
	mg_count = 0
#ifdef ORPHANS
	;
	renew_hint()
#endif
}

#ifdef ORPHANS
/* The lowest ticket among orphans in line, unless somebody has noted another meanwhile. front_what: 16 | ticket. */
inline renew_hint()
{
	if
	:: !(front_hint & 1)
	:: else ->
		front_what = 0;
		do
		:: re_i < RECORDS ->
			STEP(if
			     :: who_is_orphan(who[re_i])
			        && (front_what == 0
			            || counter_diff(who[re_i] & 15, COUNTER_START) < counter_diff(front_what & 15, COUNTER_START)) ->
				     front_what = 16 | (who[re_i] & 15)
			     :: else
			     fi;
			     re_i++)
		:: else -> break
		od;
		re_i = 0;
#ifdef MUTANT_HINT_WITHOUT_VERSION
		STEP(hint = (front_what == 0 -> 0 : ((front_what & 15) << 8) | 1))
#else
		STEP(CAS(hint, front_hint,
		         ((front_what & 15) << 8) | ((front_hint + 2) & 254) | (front_what == 0 -> 0 : 1)))
#endif
	fi;
	front_what = 0;
	front_hint = 0
}

inline note_orphan(t)
{
	do
	:: STEP(front_hint = hint);
		STEP(CAS_OK(ok, hint, front_hint,
		            (((front_hint & 1) && counter_diff(t, hint_ticket(front_hint)) >= 0
		              -> hint_ticket(front_hint) : t) << 8) | ((front_hint + 2) & 254) | 1, skip));
		if
		:: ok -> break
		:: else
		fi
	od;
	front_hint = 0
}

inline skip_orphans()
{
	STEP(front_hint = hint);
	if
	:: front_hint & 1 ->
		load_limit(front_limit);
		if
		:: counter_diff(front_limit, hint_ticket(front_hint)) >= 0 -> recover_front()
		:: else
		fi
	:: else
	fi;
	front_hint = 0;
	front_limit = 0
}

#ifdef MUTANT_ORPHANS_NOT_SKIPPED
#define after_grant() wake_enabled()
#else
#define after_grant() wake_enabled(); skip_orphans()
#endif
#else
/* Nobody gives up here: the hint stays empty, and the look at it does nothing. */
#define after_grant() wake_enabled()
#endif

/* ---- everybody ---- */

/* `spare`: recover_spare_records(), IDLE and CLAIMED; else recover_states(): CLAIMED, HELD, RELEASING. */
inline recover_states(spare)
{
	re_i = 0;
	do
	:: re_i < RECORDS ->
		STEP(ok = (who[re_i] != 0
		           && (spare -> what_state(what[re_i]) <= CLAIMED
		                      : what_state(what[re_i]) != IDLE && what_state(what[re_i]) != QUEUED)));
		if
		:: ok -> recover_record(re_i)
		:: else
		fi;
		re_i++
	:: else -> break
	od;
	re_i = 0
}

inline recover_all()
{
	recover_states(false);
	recover_front()
}
