/* SPDX-License-Identifier: MIT */
/*
 * lib/calls/hold.c: acquire() stands for tsem_acquire(), try_acquire() for tsem_try_acquire(), release() for tsem_release().
 */

/* The ticket of this process was skipped, or may be, because a user has declared the process dead. */
#ifdef DECLARES
#define is_lost(w) \
	(state_kind(w) == STATE_IDLE || state_kind(w) == STATE_RELEASING || state_is_declared(w))
inline leave_lost()
{
	STEP(owner[r] = owner_orphan(ticket); declared[me] = false);
	recover_from(OWN, false);
	ok = false
}
#else
#define is_lost(w) false
#define leave_lost() skip
#endif

#ifdef MUTANT_HELD_BY_STORE
#define may_become_held true
#else
#define may_become_held (state[r] == rel_state)
#endif

inline hold_become()
{
#ifdef MUTANT_HELD_IS_A_COMPARISON
	STEP(is_holder[me] = true)
#else
	do
	:: STEP(PROMISE(living_not_robbed, RECORD_IS_OURS); rel_state = state[r]);
		if
		:: is_lost(rel_state) ->
			leave_lost();
			break
		:: else
		fi;
		if
		OR_DIE
		:: d_step {
				may_become_held ->
				state[r] = state_next(rel_state, STATE_HELD, ticket);
				is_holder[me] = true
			};
			break
		:: d_step { !may_become_held -> rel_state = 0 }
		fi
	od;
	rel_state = 0
#endif
}

inline acquire_slow(n, has_deadline)
{
	queue_enter(n, has_deadline);
	if
	:: ok -> hold_become()
	:: else
	fi
}

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

inline begin_own_release(n)
{
	STEP(PROMISE(living_not_robbed, HOLD_IS_OURS);
	     rel_state = state_next(state[r], STATE_RELEASING, ticket);
	     state[r] = rel_state;
	     is_holder[me] = false;
	     note_end_of_hold(n))
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
#define acquire(n, has_deadline) acquire_slow(n, has_deadline)
#define try_acquire(n) try_acquire_slow(n)

inline release(n)
{
	begin_own_release(n);
	release_slow()
}
#else
inline acquire(n, has_deadline)
{
	fast_acquire(n);
	if
	:: ok
	:: else -> acquire_slow(n, has_deadline)
	fi
}

inline try_acquire(n)
{
	fast_acquire(n);
	if
	:: ok
	:: else -> try_acquire_slow(n)
	fi
}

inline release_notify()
{
	mg_moved = true;
	mg_count = count[r];
	C_AFTER_G
	grant_notify()
}

/* By the entry, or as release_any(). */
inline release(n)
{
	fast_release_entry;
	begin_own_release(n);
	if
	:: ok -> fast_release()
	:: else
	fi;
	if
	:: ok -> ok = false
	:: else -> release_slow()
	fi
}
#endif
