/* SPDX-License-Identifier: MIT */
/* lib/records/record.c. A call that finds no free record is left out: search() blocks until there is one. */

#if RECORDS == 1
#define FREE_EXISTS (owner[0] == 0)
#elif RECORDS == 2
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0)
#elif RECORDS == 3
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0 || owner[2] == 0)
#else
#define FREE_EXISTS (owner[0] == 0 || owner[1] == 0 || owner[2] == 0 || owner[3] == 0)
#endif

/* IDLE -> CLAIMED. Everything else is written before. */
inline mark_claimed()
{
	STEP(PROMISE(claimed_was_idle, state_kind(state[r]) == STATE_IDLE && owner[r] == owner_process(me));
	     gen[r] = state_value(state[r]));
	STEP(state[r] = state_next(state[r], STATE_CLAIMED, state_value(state[r])))
}

/* The free record with the lowest number, so that records are used again as soon as possible. */
inline search()
{
	LOCK_BEFORE_CLAIM
	STEP_WHEN(FREE_EXISTS,
	          r = 0;
	          do
	          :: owner[r] != 0 -> r++
	          :: else -> break
	          od;
	          owner[r] = owner_process(me))
	LOCK_AFTER_CLAIM
}

/* CLAIMED -> IDLE. No ticket was taken, so the phases stay. */
inline mark_idle()
{
	STEP(PROMISE(living_not_robbed, state_kind(state[r]) == STATE_CLAIMED);
	     state[r] = state_next(state[r], STATE_IDLE, state_value(state[r]) + 1))
}

inline free_own()
{
	STEP(owner[r] = 0)
}

#ifdef CACHES_RECORDS
inline record_claim(n)
{
	if
	OR_DIE
	:: d_step { cache_is_ready -> r = entry - 1; cache_clear() };
		STEP(count[r] = n)
	:: !cache_is_ready -> search();
		STEP(cache_forget(); count[r] = n);
		mark_claimed()
	fi
}

inline record_cache_or_free()
{
	if
	OR_DIE
	:: cache_is_ready -> free_own()
	:: d_step { !cache_is_ready -> cache_clear(); entry = r + 1 };
		mark_claimed();
		entry_claimed = state[r];
		store_counters()
	fi
}

/* A process has a single entry. */
inline record_free_cached()
{
	if
	OR_DIE
	:: d_step { !cache_is_ready -> skip }
	:: d_step { cache_is_ready -> r = entry - 1 };
		mark_idle();
		STEP(CAS(owner[r], owner_process(me), 0))
	fi;
	cache_clear()
}
#else
inline record_claim(n)
{
	search();
	STEP(count[r] = n);
	mark_claimed()
}

inline record_cache_or_free()
{
	free_own()
}
#endif
