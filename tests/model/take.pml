/* SPDX-License-Identifier: MIT */
/* lib/take.c: take() stands for tsem_take(). */

/* From the store on the permits are anonymous. */
inline forget_owner(n)
{
	STEP(PROMISE(living_not_robbed, RECORD_IS_OURS); rel_state = state[r]);
	STEP(state[r] = state_next(rel_state ^ STATE_ARRIVAL_PHASE, STATE_IDLE, gen[r] + 1);
	     in_use[me] = in_use[me] - n;
	     anonymous = anonymous + n);
	rel_state = 0;
	record_cache_or_free()
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
