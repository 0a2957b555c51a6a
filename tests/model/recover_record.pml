/* SPDX-License-Identifier: MIT */
/* lib/recovery/recover_record.c. The look whether a process is dead is a step, too. */

inline recover_claimed(index)
{
	if
	OR_DIE
	:: d_step { counter_tag(T) == tag_make(index, state_arrival_phase(rc_state)) -> rc_tickets = T };
		finish_arrival(rc_tickets);
		rc_tickets = 0
	:: d_step { counter_tag(T) != tag_make(index, state_arrival_phase(rc_state)) -> skip };
		STEP(CAS(state[index], rc_state, state_next(rc_state, STATE_IDLE, state_value(rc_state) + 1)))
	fi
}

#ifdef MUTANT_OWNER_NOT_CHECKED_AGAIN
#define owner_has_changed false
#else
#define owner_has_changed (owner[index] != rc_owner)
#endif

#ifdef DECLARES
#define is_gone(w) (rc_dead || state_is_declared(w))
#else
#define is_gone(w) rc_dead
#endif
#ifdef MUTANT_DECLARED_RECORD_FREED
#define may_free true
#else
#define may_free (rc_dead || owner_is_handed(rc_owner))
#endif
/* Also if the owner lives: the process that began the release may be another one, and dead. */
#ifdef MUTANT_RELEASE_LEFT_TO_OWNER
#define may_end (rc_dead || owner_is_handed(rc_owner))
#else
#define may_end true
#endif

/* What a process does for the owner of a record in state `w`. */
#define is_to_be_freed(w) (state_kind(w) == STATE_IDLE && may_free)
#define is_to_be_finished(w) (state_kind(w) == STATE_CLAIMED && rc_dead)
#define is_to_be_looked_at(w) (state_kind(w) == STATE_QUEUED && is_gone(w))
#define is_to_be_released(w) (state_kind(w) == STATE_HELD && rc_dead)
#define is_to_be_ended(w) (state_kind(w) == STATE_RELEASING && may_end)
#define is_to_be_left(w) \
	(!is_to_be_freed(w) && !is_to_be_finished(w) && !is_to_be_looked_at(w) && !is_to_be_released(w) \
	 && !is_to_be_ended(w))

#define begin_release(index) \
	STEP(CAS(state[index], rc_state, state_next(rc_state, STATE_RELEASING, state_value(rc_state))))

/* The read of the count is left out: it only says how many permits came back. */
inline recover_record(index)
{
	STEP(rc_owner = owner[index]);
#ifdef MUTANT_STATE_READ_BEFORE_DEATH_KNOWN
	STEP(rc_state = state[index]);
#endif
	if
	:: rc_owner == 0
	:: else ->
		JUDGE(index);
		do
		::
#ifdef MUTANT_STATE_READ_BEFORE_DEATH_KNOWN
			if
			:: rc_state == -1 -> STEP(rc_state = state[index])
			:: else
			fi;
#else
			STEP(rc_state = state[index]);
#endif
			if
			OR_DIE
			:: d_step { owner_has_changed || is_to_be_left(rc_state) -> skip };
				break
			:: !owner_has_changed && is_to_be_freed(rc_state) ->
				STEP(CAS(owner[index], rc_owner, 0));
				break
			:: !owner_has_changed && is_to_be_finished(rc_state) -> recover_claimed(index)
			:: !owner_has_changed && is_to_be_looked_at(rc_state) ->
				read_first_half
				if
				OR_DIE
				:: d_step { ahead_of(state_value(rc_state)) < 0 -> first_half = 0 };
					break
				:: d_step { ahead_of(state_value(rc_state)) >= 0 -> first_half = 0 };
					begin_release(index)
				fi
			:: !owner_has_changed && is_to_be_released(rc_state) -> begin_release(index)
			:: !owner_has_changed && is_to_be_ended(rc_state) ->
				release_for_owner(index, rc_state);
				wake_enabled();
				notify_idle()
			fi;
#ifdef MUTANT_STATE_READ_BEFORE_DEATH_KNOWN
			rc_state = -1
#endif
		od
	fi;
	rc_owner = 0;
	rc_state = 0;
	rc_dead = false;
	front_index = RECORDS
}
