/* SPDX-License-Identifier: MIT */
/* lib/wait.c, lib/wake.c. The spinning is left out: it is only one more look. */

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

/* The sleepers bit goes only when all are woken. */
#ifdef MUTANT_SLEEPERS_BIT_ALWAYS_CLEARED
#define advanced(word, bits) (((word) + 2) & 254)
#else
#define advanced(word, bits) (((word) + 2) & ((bits) == ALL_BITS -> 254 : 255))
#endif

inline wake_word(s, bits)
{
	do
	::
		if
		OR_DIE
		:: d_step { !(slot[s] & 1) -> skip };
			break
		:: d_step { slot[s] & 1 -> wk_seen = slot[s] }
		fi;
		if
		OR_DIE
		:: CAS_WORKS(slot[s], wk_seen, advanced(wk_seen, bits), wk_seen = 0);
			STEP(futex_wake(s, bits));
			break
		:: CAS_FAILS(slot[s], wk_seen, wk_seen = 0)
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
		/* Behind the move of G: the other half of the arrival's "move T, then read E". */
		STEP(wk_waiting = counter_diff(T_AFTER_G, mg_from);
		     mg_moved = false;
		     mg_tickets = 0;
		     if
		     :: mg_count > wk_waiting -> mg_count = (wk_waiting > 0 -> wk_waiting : 0)
		     :: else
		     fi);
		if
		:: mg_count >= SLOTS -> wake_everybody()
		:: else ->
			do
			:: wk_i < mg_count ->
				wk_bits = (wk_waiting > SLOTS -> slot_bit(counter_add(mg_from, wk_i)) : ALL_BITS);
				wake_word(slot_index(mg_from + wk_i), wk_bits);
				wk_i++
			:: else -> break
			od;
			wk_i = 0;
			wk_bits = 0
		fi;
		wk_waiting = 0
	:: else
	fi;
	mg_mine = false;
	mg_count = 0;
	mg_from = 0;
	mg_capacity = 0
}

/*
 * wait_is_over(): the admission is the look that says so. `over` and `not_yet`, statements or nothing, come next. The
 * second look of it, whether somebody who lowered the capacity let the waiter in, is there only where somebody may have.
 */
#ifdef SETTER
#define LOOK(n, over, not_yet) \
	read_first_half \
	if \
	OR_DIE \
	:: d_step { ahead_of(ticket) >= n -> admit(ticket, n); ok = true; first_half = 0 }; over \
	:: d_step { ahead_of(ticket) < n -> first_half = 0 }; \
		if \
		OR_DIE \
		:: d_step { what_state(what[r]) == HELD -> admit(ticket, n); ok = true }; over \
		:: d_step { what_state(what[r]) != HELD -> ok = false }; not_yet \
		fi \
	fi
#else
#define LOOK(n, over, not_yet) \
	if \
	OR_DIE \
	:: d_step { ahead_of(ticket) >= n -> admit(ticket, n); ok = true }; over \
	:: d_step { ahead_of(ticket) < n -> ok = false }; not_yet \
	fi
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
 * come only when nothing else can happen (rest.pml). The look that each round begins with is left out: it has no effect
 * but to end the wait, as the one behind the sleepers bit does.
 */
inline wait_until_enabled(n, has_deadline)
{
	do
	::
#ifdef MUTANT_LOOKS_BEFORE_SLEEPERS_BIT
		LOOK(n, break, );
		set_sleepers_bit(n);
#else
		set_sleepers_bit(n);
		LOOK(n, break, );
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
	od;
	seen = 0
}
