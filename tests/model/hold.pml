/* SPDX-License-Identifier: MIT */
/*
 * lib/hold.c: acquire() stands for tsem_acquire(), try_acquire() for tsem_try_acquire(), release() for tsem_release().
 */

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

/* The phases are those of the state that the process has read, so it must not be one after the release. */
#ifdef DECLARES
#ifdef MUTANT_HELD_AFTER_RELEASE
#define is_lost(w) false
#else
#define is_lost(w) \
	(state_kind(w) == STATE_IDLE || state_kind(w) == STATE_RELEASING || state_is_declared(w))
#endif
inline leave_lost()
{
	STEP(owner[r] = owner_orphan(ticket); declared[me] = false);
	recover_from(OWN, false);
	ok = false
}

inline hold_become_or_leave()
{
	STEP(PROMISE(living_not_robbed, RECORD_IS_OURS); rel_state = state[r]);
	if
	:: is_lost(rel_state) -> leave_lost()
	:: else ->
		STEP(state[r] = state_next(rel_state, STATE_HELD, ticket); is_holder[me] = !declared[me])
	fi;
	rel_state = 0
}
#else
#define hold_become_or_leave() hold_become()
#endif

inline acquire_slow(n, has_deadline)
{
	queue_enter(n, has_deadline);
	if
	:: ok -> hold_become_or_leave()
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

#ifdef DECLARES
#define compared_state rel_state
#else
#define compared_state state[r]
#endif
inline begin_own_release(n)
{
	STEP(PROMISE(living_not_robbed, HOLD_IS_OURS);
	     rel_state = state_next(compared_state, STATE_RELEASING, ticket);
	     state[r] = rel_state;
	     is_holder[me] = false;
	     note_end_of_hold(n))
}

/*
 * free_declared(): the hold was declared dead. The owner finishes its release, and frees the record, unless it has done
 * so before.
 */
#ifdef DECLARES
#define release_void(n) \
	PROMISE(living_not_robbed, is_void); \
	declared[me] = false; \
	recover_from(OWN, false); \
	if \
	OR_DIE \
	:: d_step { state_kind(state[r]) != STATE_IDLE || until[r] != ticket + 1 -> skip } \
	:: state_kind(state[r]) == STATE_IDLE && until[r] == ticket + 1 -> \
		STEP(owner[r] = 0) \
	fi
#endif

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

#ifdef DECLARES
inline release(n)
{
	if
	OR_DIE
	:: d_step { !HOLD_IS_THERE -> skip };
		release_void(n)
	:: d_step { HOLD_IS_THERE -> rel_state = state[r] };
		begin_own_release(n);
		release_slow()
	fi
}
#else
inline release(n)
{
	begin_own_release(n);
	release_slow()
}
#endif
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

inline release_held(n)
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

/* By the entry, or as release_any(). */
#ifdef DECLARES
inline release(n)
{
	if
	OR_DIE
	:: d_step { !HOLD_IS_THERE -> skip };
		release_void(n)
	:: d_step { HOLD_IS_THERE -> rel_state = state[r] };
		release_held(n)
	fi
}
#else
inline release(n)
{
	release_held(n)
}
#endif
#endif
