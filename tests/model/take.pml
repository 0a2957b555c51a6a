/* SPDX-License-Identifier: MIT */
/* lib/calls/take.c: take() stands for tsem_take(). */

/* From the compare-and-swap on the permits are anonymous. `ok`: this process has them. */
#define state_forgotten state_next(rel_state ^ STATE_ARRIVAL_PHASE, STATE_IDLE, gen[r] + 1)
#ifdef MUTANT_TAKEN_BY_STORE
#define is_still_queued true
#else
#define is_still_queued (state[r] == rel_state)
#endif
inline forget_owner(n)
{
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
				is_still_queued ->
				state[r] = state_forgotten;
				in_use[me] = in_use[me] - n;
				anonymous = anonymous + n
			};
			record_cache_or_free();
			break
		:: d_step { !is_still_queued -> rel_state = 0 }
		fi
	od;
	rel_state = 0
}

inline take(n, has_deadline)
{
	arrive_if_enabled(n, TAG_NONE);
	if
	:: ok
	:: else ->
		queue_enter(n, has_deadline);
		if
		:: ok -> forget_owner(n)
		:: else
		fi
	fi
}
