/* SPDX-License-Identifier: MIT */
/* lib/recover.c. Whether a process is dead is read from where the kernel keeps it, so it is a step, too. */

inline recover_claimed(index)
{
	if
	OR_DIE
	:: d_step { word_tag(T) == tag_make(index, what_a(rc_what)) -> rc_tickets = T };
		finish_arrival(rc_tickets);
		rc_tickets = 0
	:: d_step { word_tag(T) != tag_make(index, what_a(rc_what)) -> skip };
		STEP(CAS(what[index], rc_what, what_next(rc_what, IDLE, what_value(rc_what) + 1)))
	fi
}

#ifdef MUTANT_WHO_NOT_CHECKED_AGAIN
#define is_another(now, before) false
#else
#define is_another(now, before) ((now) != (before))
#endif

/* What is to be done for an owner in this state: nothing, for one who lives or a place that the line has not reached. */
#define is_to_be_freed(w) (what_state(w) == IDLE)
#define is_to_be_finished(w) (what_state(w) == CLAIMED && rc_dead)
#define is_to_be_looked_at(w) (what_state(w) == QUEUED && rc_dead)
#define is_to_be_released(w) (what_state(w) == HELD && rc_dead)
#define is_to_be_ended(w) (what_state(w) == RELEASING)
#define is_nobodys_business(w) \
	(!is_to_be_freed(w) && !is_to_be_finished(w) && !is_to_be_looked_at(w) && !is_to_be_released(w) && !is_to_be_ended(w))

#define begin_release(index) STEP(CAS(what[index], rc_what, what_next(rc_what, RELEASING, what_value(rc_what))))

/* The count that is read together with `what` only says how many permits came back. */
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
		do
		:: !rc_dead && !who_is_handed(rc_who) -> break
		:: else ->
#ifdef MUTANT_WHAT_READ_BEFORE_DEATH_KNOWN
			if
			:: rc_what == -1 -> STEP(rc_what = what[index])
			:: else
			fi;
#else
			STEP(rc_what = what[index]);
#endif
			if
			OR_DIE
			:: d_step { is_another(who[index], rc_who) || is_nobodys_business(rc_what) -> skip };
				break
			:: !is_another(who[index], rc_who) && is_to_be_freed(rc_what) ->
				STEP(CAS(who[index], rc_who, 0));
				break
			:: !is_another(who[index], rc_who) && is_to_be_finished(rc_what) -> recover_claimed(index)
			:: !is_another(who[index], rc_who) && is_to_be_looked_at(rc_what) ->
				read_first_half
				if
				OR_DIE
				:: d_step { ahead_of(what_value(rc_what)) < 0 -> first_half = 0 };
					break
				:: d_step { ahead_of(what_value(rc_what)) >= 0 -> first_half = 0 };
					begin_release(index)
				fi
			:: !is_another(who[index], rc_who) && is_to_be_released(rc_what) -> begin_release(index)
			:: !is_another(who[index], rc_who) && is_to_be_ended(rc_what) ->
				release_for_owner(index, rc_what);
				wake_enabled();
				tell_idlers()
			fi;
#ifdef MUTANT_WHAT_READ_BEFORE_DEATH_KNOWN
			rc_what = -1
#endif
		od
	fi;
	rc_who = 0;
	rc_what = 0;
	rc_dead = false;
	front_index = RECORDS
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

/*
 * The ways into recovery share one loop, so that what they all come to, recover_record(), is there only once: a matter of
 * the model's size. A way is a sequence of stages, each of which picks records to look at, into front_index.
 *
 *     give_up()                          OWN, SKIP [, FRONT, HINT]
 *     skip_orphans()                     SKIP [, FRONT, HINT]
 *     recover_all()                      LAST, STATES, FRONT, HINT
 *     tsem_recover()                     LAST, STATES, FRONT, HINT, SPARE
 */
#define OWN 1
#define SKIP 2
#define STATES 3
#define FRONT 4   /* reads the hint, and collects the places in line */
#define PLACES 5  /* the next of them, if the line has come that far */
#define PASSED 6  /* whether to go on behind it */
#define HINT 7    /* renew_orphan_hint() */
#define SPARE 8
#define DONE 9
#define LAST 10   /* recover_last_arrival() */
#ifdef MUTANT_LAST_ARRIVAL_IGNORED
#define EVERYBODY STATES
#else
#define EVERYBODY LAST
#endif

inline look_at_hint()
{
#ifdef ORPHANS
	if
	OR_DIE
	:: d_step { !(hint & 1) -> stage = DONE }
	:: d_step { hint & 1 -> front_hint = hint };
		read_first_half
		STEP(stage = (ahead_of(hint_ticket(front_hint)) >= 0 -> FRONT : DONE);
		     front_hint = 0;
		     first_half = 0)
	fi
#else
	stage = DONE /* nobody gives up here: the hint stays empty, and the look at it does nothing */
#endif
}

/* Of those that are CLAIMED only the last to move T can have its ticket. */
inline pick_last()
{
	STEP(passing = tag_record(word_tag(T)));
	stage = STATES;
	if
	OR_DIE
	:: d_step { passing < RECORDS && what_state(what[passing]) == CLAIMED -> front_index = passing; passing = 0 };
		break
	:: d_step { passing >= RECORDS || what_state(what[passing]) != CLAIMED -> passing = 0 }
	fi
}

/* recover_states() and recover_spare_records(): the next record whose state is one of those. */
#define pick_state(condition, next) \
	if \
	OR_DIE \
	:: d_step { re_i < RECORDS && who[re_i] != 0 && (condition) -> front_index = re_i; re_i++ }; \
		break \
	:: d_step { re_i < RECORDS && !(who[re_i] != 0 && (condition)) -> re_i++ } \
	:: d_step { re_i == RECORDS -> re_i = 0; stage = next } \
	fi

/* recover_front(): from here on until renew_hint(). */
inline collect_places()
{
#ifdef ORPHANS
	STEP(front_hint = hint);
#endif
	do
	OR_DIE
	:: d_step {
			re_i < RECORDS ->
			if
			:: what_state(what[re_i]) == QUEUED -> places = places | ((16 | what_value(what[re_i])) << (re_i * 5))
			:: else
			fi;
			re_i++
		}
	:: d_step { re_i == RECORDS -> re_i = 0; stage = PLACES };
		break
	od
}

inline pick_place()
{
	first_place(COUNTER_START);
	if
	:: front_index == RECORDS -> stage = HINT
	:: else ->
		read_first_half
		if
		OR_DIE
		:: d_step {
				ahead_of(place_of(front_index) & 15) < 0 ->
				first_half = 0;
				places = 0;
				front_index = RECORDS;
				stage = HINT
			}
		:: d_step { ahead_of(place_of(front_index) & 15) >= 0 -> first_half = 0; passing = front_index; stage = PASSED };
			break
		fi
	fi
}

/* Whether to go on to the next place: not when a live waiter stands here. */
#define still_stands_there \
	(what_state(what[passing]) == QUEUED && what_value(what[passing]) == (place_of(passing) & 15))

inline pass_over()
{
	if
	OR_DIE
	:: d_step { !still_stands_there -> go_on_behind(PLACES) }
	:: d_step { still_stands_there -> skip };
		STEP(mg_count = count[passing]);
		read_first_half
		if
		OR_DIE
		:: d_step { ahead_of(place_of(passing) & 15) < mg_count -> places = 0; go_on_behind(HINT) }
		:: d_step { ahead_of(place_of(passing) & 15) >= mg_count -> go_on_behind(PLACES) }
		fi
	fi
}

inline go_on_behind(next)
{
	places = places & ~(31 << (passing * 5));
	passing = 0;
	mg_count = 0;
	first_half = 0;
	stage = next
}

/*
 * The lowest ticket among orphans in line, unless somebody has noted another meanwhile; those that have left it are
 * carried to their end. front_what: 16 | ticket.
 */
#ifdef ORPHANS
#ifdef MUTANT_HINT_WITHOUT_VERSION
#define renewed_hint hint = (front_what == 0 -> 0 : ((front_what & 15) << 8) | 1)
#else
#define renewed_hint \
	CAS(hint, front_hint, hint_next(front_hint, (front_what == 0 -> 0 : 1), front_what & 15))
#endif
#define renew_hint(next) \
	if \
	OR_DIE \
	:: d_step { re_i < RECORDS && (front_hint & 1) && !who_is_orphan(who[re_i]) -> re_i++ } \
	:: re_i < RECORDS && (front_hint & 1) && who_is_orphan(who[re_i]) -> \
		if \
		OR_DIE \
		:: d_step { what_state(what[re_i]) != QUEUED -> front_index = re_i; re_i++ }; \
			break \
		:: d_step { what_state(what[re_i]) == QUEUED -> front_what = lower_place(what_value(what[re_i])); re_i++ } \
		fi \
	:: d_step { \
			re_i == RECORDS || !(front_hint & 1) -> \
			if \
			:: front_hint & 1 -> renewed_hint \
			:: else \
			fi; \
			re_i = 0; \
			front_what = 0; \
			front_hint = 0; \
			stage = next \
		} \
	fi
#define lower_place(t) \
	(front_what == 0 || counter_diff(t, COUNTER_START) < counter_diff(front_what & 15, COUNTER_START) -> 16 | (t) : front_what)
#else
#define renew_hint(next) stage = next
#endif

inline recover_from(way, with_spare)
{
	stage = way;
	front_index = RECORDS;
	do
	:: stage == DONE -> break
	:: else ->
		do
		:: stage == DONE -> break
		:: stage == OWN ->
			front_index = r;
			stage = SKIP;
			break
		:: stage == SKIP -> look_at_hint()
		:: stage == LAST -> pick_last()
		:: stage == STATES ->
			pick_state(what_state(what[re_i]) == HELD || what_state(what[re_i]) == RELEASING, FRONT)
		:: stage == FRONT -> collect_places()
		:: stage == PLACES -> pick_place()
		:: stage == PASSED -> pass_over()
		:: stage == HINT -> renew_hint((with_spare -> SPARE : DONE))
		:: stage == SPARE -> pick_state(what_state(what[re_i]) <= CLAIMED, DONE)
		od;
		if
		:: front_index == RECORDS
		:: else -> recover_record(front_index)
		fi
	od;
	stage = 0;
	front_index = 0
}

inline note_orphan(t)
{
	do
	:: STEP(front_hint = hint);
		if
		OR_DIE
		:: CAS_WORKS(hint, front_hint,
		             hint_next(front_hint, 1,
		                       ((front_hint & 1) && counter_diff(t, hint_ticket(front_hint)) >= 0
		                        -> hint_ticket(front_hint) : t)), front_hint = 0);
			break
		:: CAS_FAILS(hint, front_hint, front_hint = 0)
		fi
	od
}

#if defined(ORPHANS) && !defined(MUTANT_ORPHANS_NOT_SKIPPED)
#define after_grant() wake_enabled(); recover_from(SKIP, false); tell_idlers()
#else
#define after_grant() wake_enabled(); tell_idlers()
#endif
