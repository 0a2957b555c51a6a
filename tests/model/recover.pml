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

inline collect_places()
{
	places = 0;
	re_i = 0;
	do
	:: re_i < RECORDS ->
		STEP(if
		     :: what_state(what[re_i]) == QUEUED -> places = places | ((16 | what_value(what[re_i])) << (re_i * 5))
		     :: else
		     fi;
		     re_i++)
	:: else -> break
	od;
	re_i = 0
}

/*
 * The ways into recovery share one loop, so that what they all come to, recover_record(), is there only once: a matter of
 * the model's size. A way is a sequence of stages, each of which picks the next record to look at into front_index.
 *
 *     give_up()                          OWN, SKIP [, FRONT, HINT]
 *     skip_orphans()                     SKIP [, FRONT, HINT]
 *     recover_all()                      STATES, FRONT, HINT
 *     tsem_recover()                     STATES, FRONT, HINT, SPARE
 */
#define OWN 1
#define SKIP 2
#define STATES 3
#define FRONT 4
#define HINT 5
#define SPARE 6
#define DONE 7

inline recover_from(way, with_spare)
{
	stage = way;
	do
	:: stage == DONE -> break
	:: else ->
		front_index = RECORDS;
		if
		:: stage == OWN -> front_index = r
		:: stage == SKIP -> pick_skip()
		:: stage == STATES -> pick_state(what_state(what[re_i]) != IDLE && what_state(what[re_i]) != QUEUED, FRONT)
		:: stage == FRONT -> pick_front()
		:: stage == HINT -> pick_hint(with_spare)
		:: stage == SPARE -> pick_state(what_state(what[re_i]) <= CLAIMED, DONE)
		fi;
		if
		:: front_index == RECORDS
		:: else -> recover_record(front_index)
		fi;
		if
		:: stage == OWN -> stage = SKIP
		:: stage == FRONT && front_index != RECORDS -> pass_over()
		:: else
		fi
	od;
	stage = 0;
	front_index = 0
}

/* The look at the hint. */
inline pick_skip()
{
#ifdef ORPHANS
	STEP(front_hint = hint);
	stage = DONE;
	if
	:: front_hint & 1 ->
		load_limit(front_limit);
		if
		:: counter_diff(front_limit, hint_ticket(front_hint)) >= 0 -> stage = FRONT
		:: else
		fi
	:: else
	fi;
	front_hint = 0;
	front_limit = 0
#else
	stage = DONE /* nobody gives up here: the hint stays empty, and the look at it does nothing */
#endif
}

/* recover_states() and recover_spare_records(): the next record whose state is one of those. */
inline pick_state(condition, next)
{
	if
	:: re_i == RECORDS ->
		re_i = 0;
		stage = next
	:: else ->
		STEP(if
		     :: who[re_i] != 0 && (condition) -> front_index = re_i
		     :: else
		     fi;
		     re_i++)
	fi
}

/* recover_front(): the next of the places collected at its beginning, if the line has come that far. */
inline pick_front()
{
	if
	:: !collected ->
#ifdef ORPHANS
		STEP(front_hint = hint);
#endif
		collect_places();
		collected = true
	:: else
	fi;
	first_place(COUNTER_START);
	if
	:: front_index == RECORDS -> stage = HINT
	:: else ->
		load_limit(front_limit);
		if
		:: counter_diff(front_limit, place_of(front_index) & 15) < 0 ->
			front_index = RECORDS;
			stage = HINT
		:: else
		fi;
		front_limit = 0
	fi
}

/* Whether to go on to the next place: not when a live waiter stands here. */
inline pass_over()
{
	STEP(ok = (what_state(what[front_index]) == QUEUED
	           && what_value(what[front_index]) == (place_of(front_index) & 15)));
	if
	:: ok ->
		STEP(mg_count = count[front_index]);
		load_limit(front_limit);
		if
		:: counter_diff(front_limit, place_of(front_index) & 15) < mg_count -> stage = HINT
		:: else
		fi;
		mg_count = 0;
		front_limit = 0
	:: else
	fi;
	places = places & ~(31 << (front_index * 5));
	ok = false
}

/*
 * renew_orphan_hint(): the lowest ticket among orphans in line, unless somebody has noted another meanwhile; those that
 * have left it are carried to their end. front_what: 16 | ticket.
 */
inline pick_hint(with_spare)
{
	places = 0;
	collected = false;
#ifdef ORPHANS
	if
	:: re_i < RECORDS && (front_hint & 1) ->
		STEP(ok = who_is_orphan(who[re_i]));
		if
		:: ok ->
			STEP(if
			     :: what_state(what[re_i]) != QUEUED -> front_index = re_i
			     :: else ->
				     if
				     :: (front_what == 0 || counter_diff(what_value(what[re_i]), COUNTER_START)
				                            < counter_diff(front_what & 15, COUNTER_START)) ->
					     front_what = 16 | what_value(what[re_i])
				     :: else
				     fi
			     fi)
		:: else
		fi;
		re_i++
	:: else ->
		if
		:: front_hint & 1 ->
#ifdef MUTANT_HINT_WITHOUT_VERSION
			STEP(hint = (front_what == 0 -> 0 : ((front_what & 15) << 8) | 1))
#else
			STEP(CAS(hint, front_hint,
			         ((front_what & 15) << 8) | ((front_hint + 2) & 254) | (front_what == 0 -> 0 : 1)))
#endif
		:: else
		fi;
		re_i = 0;
		front_what = 0;
		front_hint = 0;
		stage = (with_spare -> SPARE : DONE)
	fi
#else
	stage = (with_spare -> SPARE : DONE)
#endif
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

#if defined(ORPHANS) && !defined(MUTANT_ORPHANS_NOT_SKIPPED)
#define after_grant() wake_enabled(); recover_from(SKIP, false)
#else
#define after_grant() wake_enabled()
#endif
