/* SPDX-License-Identifier: MIT */
/* lib/wait.c. The spinning is left out: it is only one more look. */

/* FUTEX_WAKE_BITSET */
inline futex_wake(s, bits)
{
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: asleep[p_] > 0 && ((asleep[p_] - 1) >> 2) == (s) && ((asleep[p_] - 1) & (bits)) -> asleep[p_] = 0
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

inline wake_word(s, bits)
{
	do
	:: STEP(wk_seen = slot[s]);
		if
		:: !(wk_seen & 1) ->
			wk_seen = 0;
			break
		:: else
		fi;
#ifdef MUTANT_SLEEPERS_BIT_ALWAYS_CLEARED
		STEP(CAS_OK(ok, slot[s], wk_seen, (wk_seen + 2) & 254, skip));
#else
		/* The sleepers bit goes only when all are woken. */
		STEP(CAS_OK(ok, slot[s], wk_seen, (wk_seen + 2) & ((bits) == ALL_BITS -> 254 : 255), skip));
#endif
		if
		:: ok ->
			STEP(futex_wake(s, bits); wk_seen = 0);
			break
		:: else
		fi
	od
}

inline wake_everybody()
{
	wk_i = 0;
	do
	:: wk_i < SLOTS ->
		wake_word(wk_i, ALL_BITS);
		wk_i++
	:: else -> break
	od;
	wk_i = 0
}

/* After move_grant() or grant_anonymously(): mg_from is E before it, mg_count how far it went. */
inline wake_enabled()
{
	if
	:: mg_moved ->
		T_AFTER_G
		wk_waiting = counter_diff(wk_waiting, mg_from);
		if
		:: mg_count >= SLOTS && wk_waiting >= SLOTS ->
			wake_everybody();
			wk_waiting = 0
		:: else
		fi;
		wk_i = 0;
		do
		:: wk_i < mg_count && wk_i < wk_waiting ->
			wk_bits = (wk_waiting > SLOTS -> slot_bit(counter_add(mg_from, wk_i)) : ALL_BITS);
			wake_word(slot_index(mg_from + wk_i), wk_bits);
			wk_i++
		:: else -> break
		od;
		wk_i = 0;
		wk_bits = 0;
		wk_waiting = 0
	:: else
	fi;
	mg_moved = false;
	mg_mine = false;
	mg_count = 0;
	mg_from = 0;
	mg_capacity = 0;
	ok = false
}

/* wait_is_over(): the admission is the look that says so. */
#ifdef SETTER
#ifdef MUTANT_C_BEFORE_G
#define LOOK_FIRST look_capacity = C
#define LOOK_SECOND look_grants = word_counter(G)
#else
#define LOOK_FIRST look_grants = word_counter(G)
#define LOOK_SECOND look_capacity = C
#endif
inline look(n)
{
	STEP(LOOK_FIRST);
	STEP(LOOK_SECOND;
	     ok = (counter_diff(counter_add(look_grants, look_capacity), ticket) >= n);
	     if
	     :: ok -> admit(ticket, n)
	     :: else
	     fi;
	     look_grants = 0;
	     look_capacity = 0);
	if
	:: !ok ->
		STEP(ok = (what_state(what[r]) == HELD);
		     if
		     :: ok -> admit(ticket, n)
		     :: else
		     fi)
	:: else
	fi
}
#else
inline look(n)
{
	STEP(ok = (counter_diff(counter_add(word_counter(G), C), ticket) >= n);
	     if
	     :: ok -> admit(ticket, n)
	     :: else
	     fi)
}
#endif

#ifdef MUTANT_SLEEPS_ON_FIRST_TICKET
#define sleeps_on(n) ticket
#else
#define sleeps_on(n) counter_add(ticket, (n) - 1)
#endif
#define sleep_word(n) slot_index(sleeps_on(n))
#define sleep_code(n) (1 + ((sleep_word(n) << 2) | slot_bit(sleeps_on(n))))
#define set_sleepers_bit(n) STEP(slot[sleep_word(n)] = slot[sleep_word(n)] | 1; seen = slot[sleep_word(n)])

/*
 * sleep_until_enabled(). `ok`: the wait is over; otherwise the time is. The deadline passes whenever it likes. The ticks
 * come only when nothing else can happen (rest.pml). The first look of the loop is left out: there was one before.
 */
inline wait_until_enabled(n, has_deadline)
{
	do
	::
#ifdef MUTANT_LOOKS_BEFORE_SLEEPERS_BIT
		look(n);
		if
		:: ok -> break
		:: else
		fi;
		set_sleepers_bit(n);
#else
		set_sleepers_bit(n);
		look(n);
		if
		:: ok -> break
		:: else
		fi;
#endif
		STEP(if
		     :: slot[sleep_word(n)] == seen -> asleep[me] = sleep_code(n)
		     :: else
		     fi);
		if
		OR_DIE
		:: d_step { !asleep[me] -> seen = 0 }
		:: d_step { has_deadline && asleep[me] -> asleep[me] = 0; seen = 0 };
			break
		:: d_step { over -> asleep[me] = 0; seen = 0 };
			goto gone
		fi
	od
}
