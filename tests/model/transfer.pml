/* SPDX-License-Identifier: MIT */
/* lib/calls/transfer.c, in configurations that define TRANSFERS. */

/* change_owner() to process q. From the store on the permits are q's, if it lives. */
inline hand_over(n, q)
{
	STEP(PROMISE(living_not_robbed, HOLD_IS_OURS);
	     in_use[me] = in_use[me] - n;
	     is_holder[me] = false;
	     owner[r] = owner_handed(q, ticket);
	     if
	     :: dead[q]
	     :: else -> in_use[q] = in_use[q] + n
	     fi)
}

/* The newest HELD record that was handed over to q: its front_index, rc_owner and rc_state. RECORDS: there is none. */
inline find_handed(q)
{
	front_index = RECORDS;
	re_i = 0;
	do
	:: re_i < RECORDS ->
		STEP(rc_tickets = owner[re_i]);
		if
		:: owner_is_handed(rc_tickets) && owner_pid(rc_tickets) == q ->
			STEP(front_state = state[re_i]);
			if
			:: (state_kind(front_state) == STATE_HELD
			    && (front_index == RECORDS
			        || counter_diff(state_value(front_state), state_value(rc_state)) >= 0)) ->
				front_index = re_i;
				rc_owner = rc_tickets;
				rc_state = front_state
			:: else
			fi
		:: else
		fi;
		re_i++
	:: else -> break
	od;
	re_i = 0;
	rc_tickets = 0;
	front_state = 0
}

#ifdef MUTANT_FOREIGN_RELEASE_BY_STORE
#define is_still_held true
#else
#define is_still_held (state[front_index] == rc_state)
#endif

/* HELD -> RELEASING, and the rest of the release. `ok`: this process did it. */
inline release_foreign(n, q)
{
	if
	OR_DIE
	:: d_step {
			is_still_held ->
			if
			:: dead[q]
			:: else -> in_use[q] = in_use[q] - n
			fi;
			ok = true;
			rel_state = state_next(rc_state, STATE_RELEASING, state_value(rc_state));
			state[front_index] = rel_state
		};
		release_for_owner(front_index, rel_state);
		STEP(CAS(owner[front_index], rc_owner, 0));
		grant_notify();
		rel_state = 0
	:: d_step { !is_still_held -> ok = false }
	fi
}

inline release_for(n, q)
{
	do
	:: find_handed(q);
		if
		:: front_index == RECORDS -> break
		:: else
		fi;
		release_foreign(n, q);
		if
		:: ok -> break
		:: else
		fi
	od;
	front_index = 0;
	rc_owner = 0;
	rc_state = 0
}

/* tsem_release() of a hold that was lent to process q: tsem_lend() is as tsem_hand_over(). */
inline end_loan(n, q)
{
	STEP(rc_state = state[r]);
	if
	:: state_kind(rc_state) == STATE_HELD && state_value(rc_state) == ticket ->
		front_index = r;
		rc_owner = owner_handed(q, ticket);
		release_foreign(n, q)
	:: else
	fi;
	rc_state = 0;
	rc_owner = 0;
	front_index = 0;
	ok = false
}

/* What a child inherits from its parent. */
bool forked;
byte forked_record;
short forked_ticket;

/*
 * tsem_adopt() by a child of process `parent`. `ok`: the hold is its own now. If not, a release that a recoverer has
 * begun for the dead parent is finished by any process.
 */
inline adopt(n, parent)
{
	STEP(rel_state = state[r]);
	ok = false;
	if
	:: state_kind(rel_state) == STATE_HELD && state_value(rel_state) == ticket ->
		LOCK_BEFORE_ADOPTION
		if
		OR_DIE
		:: CAS_WORKS(owner[r], owner_process(parent), owner_process(me),
		             if
		             :: dead[parent]
		             :: else -> in_use[parent] = in_use[parent] - n
		             fi);
#ifdef MUTANT_ADOPTION_NOT_COUNTED
			STEP(note_admission(ticket, n); ok = true)
#else
			if
			OR_DIE
			:: CAS_WORKS(state[r], rel_state, state_adopted(rel_state),
			             note_admission(ticket, n); ok = true)
			:: CAS_FAILS(state[r], rel_state, skip)
			fi
#endif
		:: CAS_FAILS(owner[r], owner_process(parent), skip)
		fi
	:: else
	fi;
	rel_state = 0
}

/* tsem_reap() by the parent of the ended process `child`. */
inline reap(n, child)
{
	STEP(ok = (owner[r] == owner_process(me)));
	if
	:: ok -> release(n)
	:: else ->
		STEP(rc_owner = owner[r]);
		if
		:: rc_owner != 0 ->
			STEP(rc_dead = (is_found_dead(rc_owner) || is_ended_child(rc_owner, child)));
			STEP(rc_state = state[r]);
			if
			:: state_kind(rc_state) == STATE_HELD && state_value(rc_state) == ticket && rc_dead ->
				STEP(ok = (owner[r] == rc_owner));
				if
				:: ok ->
					front_index = r;
					release_foreign(n, child)
				:: else
				fi
			:: else
			fi
		:: else
		fi;
		rc_owner = 0;
		rc_state = 0;
		front_index = 0
	fi
}
