/* SPDX-License-Identifier: MIT */
/* lib/wake/notify.c */

byte idle; /* the futex */

#define IDLE_WORD ARRAY_WORDS /* its number for futex_wake(), after the waiting array */
#define PENDING_IDLE 1 /* as bits of the futex; pending_bits() are those of `pending` */
#define PENDING_HOLDERS 2
#define pending_bits(bits) ((bits) << 12)
#define idle_sleep_code(kind) (1 + ((IDLE_WORD << 2) | (kind)))
#define is_idle_sleeper(p) (asleep[p] > 0 && ((asleep[p] - 1) >> 2) == IDLE_WORD)

/* The processes whose records say USE_TAKE. */
#ifndef TAKERS
#define TAKERS 0 /* mask */
#endif
#define is_taker(p) ((TAKERS >> (p)) & 1)

#ifdef MUTANT_PENDING_READ_BEFORE_G_MOVED
#define PENDING_BEFORE_G STEP(in_bits = (pending >> 12) & 3);
#define READ_PENDING skip
#else
#define PENDING_BEFORE_G
#define READ_PENDING STEP(in_bits = (pending >> 12) & 3)
#endif

#define clear_pending STEP(pending = pending & ~pending_bits(in_bits))

inline notify_idle()
{
	READ_PENDING;
	if
	:: in_bits == 0
	:: else ->
		STEP(in_grants = counter_value(G));
		STEP(if
		     :: counter_diff(counter_value(T), in_grants) <= 0
		     :: else -> in_bits = in_bits & PENDING_HOLDERS
		     fi;
		     in_grants = 0);
		if
		:: in_bits == 0
		:: else ->
#ifdef MUTANT_PENDING_CLEARED_AFTER_WAKING
			STEP(idle++);
			STEP(futex_wake(IDLE_WORD, in_bits));
			clear_pending;
#else
			clear_pending;
			STEP(idle++);
			STEP(futex_wake(IDLE_WORD, in_bits));
#endif
			in_bits = 0
		fi
	fi
}

inline notify_forget(kind)
{
	STEP(in_bits = (pending >> 12) & (kind));
	if
	:: in_bits == 0
	:: else ->
		clear_pending;
#ifndef MUTANT_OTHER_IDLERS_NOT_WOKEN
		STEP(idle++);
		STEP(futex_wake(IDLE_WORD, in_bits));
#endif
		in_bits = 0
	fi
}
