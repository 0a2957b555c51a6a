/* SPDX-License-Identifier: MIT */
/* lib/wait.c, lib/wake.c. The spinning is left out: it is only one more look. */

#define word_slept_on(p) ((asleep[p] - 1) >> 2)
#define sleeps_on_word(p, s, bits) (asleep[p] > 0 && word_slept_on(p) == (s) && ((asleep[p] - 1) & (bits)))

/* FUTEX_WAKE_BITSET */
inline futex_wake(s, bits)
{
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: sleeps_on_word(p_, s, bits) -> asleep[p_] = 0
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

/* The same with one to be woken at most, any of them: the kernel says nothing about which. */
#define none_sleeps_on_word(s, bits) \
	(!sleeps_on_word(0, s, bits) && !sleeps_on_word(1, s, bits) && !sleeps_on_word(2, s, bits) && !sleeps_on_word(3, s, bits))
#define WAKE_IF_ASLEEP(p, s, bits) :: d_step { sleeps_on_word(p, s, bits) -> asleep[p] = 0 }
inline futex_wake_one(s, bits)
{
	if
	OR_DIE
	WAKE_IF_ASLEEP(0, s, bits)
	WAKE_IF_ASLEEP(1, s, bits)
	WAKE_IF_ASLEEP(2, s, bits)
	WAKE_IF_ASLEEP(3, s, bits)
	:: d_step { none_sleeps_on_word(s, bits) -> skip }
	fi
}

/*
 * What the bits of a word promise to those who wake, and to the one that looks whom a dead waker has overlooked: checked
 * where somebody falls asleep, and where bits are cleared.
 */
hidden byte on_word;

inline check_word(s)
{
	on_word = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: sleeps_on_word(p_, s, ALL_BITS) -> on_word++
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0;
	PROMISE(sleepers_announced, on_word == 0 || (array[s] & WORD_SLEEPER_BITS));
	PROMISE(sleepers_announced, on_word <= 1 || (array[s] & WORD_SEVERAL));
	on_word = 0
}

#ifdef MUTANT_SEVERAL_ALONE_IGNORED
#define has_sleepers(w) ((w) & WORD_SLEEPERS)
#else
#define has_sleepers(w) ((w) & WORD_SLEEPER_BITS)
#endif

#if defined(MUTANT_CLEARED_BEFORE_WAKING)
#define word_woken(w, bits) (word_next_sequence(w) & ((bits) == ALL_BITS -> ~WORD_SLEEPER_BITS : ~0))
#elif defined(MUTANT_SLEEPERS_BIT_LEFT_TO_SEVERAL)
#define word_woken(w, bits) word_next_sequence(w)
#else
#define word_woken(w, bits) (word_next_sequence(w) & ((bits) == ALL_BITS && ((w) & WORD_SEVERAL) -> ~WORD_SLEEPERS : ~0))
#endif

#ifdef MUTANT_ONE_WOKEN_ON_OWN_BIT
#define wakes_one(w, bits) (!((w) & WORD_SEVERAL))
#else
#define wakes_one(w, bits) ((bits) == ALL_BITS && !((w) & WORD_SEVERAL))
#endif

#ifdef MUTANT_SLEEPERS_BIT_ALWAYS_CLEARED
#define wakes_all(bits) true
#else
#define wakes_all(bits) ((bits) == ALL_BITS)
#endif

/* A word is read and then swapped, and read again if that fails: one step, for nothing depends on the reads that fail. */
inline wake_word(s, bits)
{
	if
	OR_DIE
	:: d_step { !has_sleepers(array[s]) -> skip }
	:: d_step { has_sleepers(array[s]) -> wk_seen = array[s]; array[s] = word_woken(wk_seen, bits) };
		if
		:: wakes_one(wk_seen, bits) -> futex_wake_one(s, bits)
		:: else -> STEP(futex_wake(s, bits))
		fi;
		if
		:: wakes_all(bits) -> clear_sleeper_bits(s, bits)
		:: else -> wk_seen = 0
		fi
	fi
}

inline clear_sleeper_bits(s, bits)
{
#ifdef MUTANT_CLEARED_WITHOUT_COMPARING
	STEP(array[s] = array[s] & ~WORD_SLEEPER_BITS; wk_seen = 0; check_word(s))
#else
	if
	OR_DIE
	:: CAS_WORKS(array[s], word_woken(wk_seen, bits), array[s] & ~WORD_SLEEPER_BITS, wk_seen = 0; check_word(s))
	:: d_step { array[s] != word_woken(wk_seen, bits) -> skip };
#ifndef MUTANT_NOT_WOKEN_AGAIN
		/* The kernel may have woken the one that has come since. */
		if
		:: wakes_one(wk_seen, bits) -> STEP(futex_wake(s, bits))
		:: else
		fi;
#endif
		wk_seen = 0
	fi
#endif
}

inline wake_all()
{
	wk_i = 0;
	do
	:: wk_i < ARRAY_WORDS ->
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
		:: mg_count >= ARRAY_WORDS -> wake_all()
		:: else ->
			do
			:: wk_i < mg_count ->
				wk_bits = (wk_waiting > ARRAY_WORDS -> word_bit(counter_add(mg_from, wk_i)) : ALL_BITS);
				wake_word(word_index(mg_from + wk_i), wk_bits);
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
	:: d_step { ahead_of(ticket) >= n -> note_admission(ticket, n); ok = true; first_half = 0 }; over \
	:: d_step { ahead_of(ticket) < n -> first_half = 0 }; \
		if \
		OR_DIE \
		:: d_step { state_kind(state[r]) == STATE_HELD -> note_admission(ticket, n); ok = true }; over \
		:: d_step { state_kind(state[r]) != STATE_HELD -> ok = false }; not_yet \
		fi \
	fi
#else
#define LOOK(n, over, not_yet) \
	if \
	OR_DIE \
	:: d_step { ahead_of(ticket) >= n -> note_admission(ticket, n); ok = true }; over \
	:: d_step { ahead_of(ticket) < n -> ok = false }; not_yet \
	fi
#endif

#ifdef MUTANT_SLEEPS_ON_FIRST_TICKET
#define sleeps_on(n) ticket
#else
#define sleeps_on(n) counter_add(ticket, (n) - 1)
#endif
#define sleep_word(n) word_index(sleeps_on(n))
#ifdef ON_ALL_BITS /* mask of the processes that sleep as tsem_acquire_any() does: it cannot choose the bits */
#define sleep_bits(n) ((ON_ALL_BITS >> me) & 1 -> ALL_BITS : word_bit(sleeps_on(n)))
#else
#define sleep_bits(n) word_bit(sleeps_on(n))
#endif
#define sleep_code(n) (1 + ((sleep_word(n) << 2) | sleep_bits(n)))

#ifdef MUTANT_SEVERAL_NEVER_SET
#define word_announced(w) ((w) | WORD_SLEEPERS)
#else
#define word_announced(w) ((w) | ((w) & WORD_SLEEPERS -> WORD_SEVERAL : WORD_SLEEPERS))
#endif

#ifdef MUTANT_OWN_ANNOUNCEMENT_BY_NUMBER
#define is_own_announcement(w) (((w) ^ seen) < WORD_STEP)
#else
#define is_own_announcement(w) ((w) == seen)
#endif

/* wait_announce(). `seen` is what it returned last time in this wait: its own, if nobody has written there since. */
#define wait_announce(n) \
	STEP(if \
	     :: (array[sleep_word(n)] & WORD_SLEEPERS) && is_own_announcement(array[sleep_word(n)]) \
	     :: else -> array[sleep_word(n)] = word_announced(array[sleep_word(n)]) \
	     fi; \
	     seen = array[sleep_word(n)])
#ifdef MUTANT_ANNOUNCED_IN_ANOTHER_WAIT
#define forget_announcement skip
#else
#define forget_announcement seen = 0
#endif

/* What ends a sleep that is cut into short ones, because a post may be about to enable the ticket: here, it blocks until then. */
#define ahead_of_at_once(ticket) counter_diff(counter_add(counter_value(G), C), ticket)
#define is_over_for(n) (ahead_of_at_once(ticket) >= n || state_kind(state[r]) == STATE_HELD)

/* wait_retract(). Its look at the word, and the swap, are one step: the swap fails if it has changed. */
#define is_only_ours(n) \
	((seen & WORD_SLEEPER_BITS) == WORD_SLEEPERS \
	 && (array[sleep_word(n)] == seen || array[sleep_word(n)] == word_posted(seen, sleeps_on(n))))
#ifdef MUTANT_RETRACTED_WITHOUT_COMPARING
#define may_retract(n) (seen != 0)
#else
#define may_retract(n) is_only_ours(n)
#endif
#ifdef MUTANT_RETRACTED_UNDER_THE_SAME_NUMBER
#define word_retracted(w) ((w) & ~WORD_SLEEPERS)
#else
#define word_retracted(w) (word_next_sequence(w) & ~WORD_SLEEPERS)
#endif
#define wait_retract(n) \
	STEP(if \
	     :: may_retract(n) -> array[sleep_word(n)] = word_retracted(array[sleep_word(n)]); check_word(sleep_word(n)) \
	     :: else \
	     fi)

/*
 * sleep_until_enabled(). `ok`: the wait is over; otherwise the time is. The deadline passes whenever it likes. The ticks
 * come only when nothing else can happen (rest.pml). The look that each round begins with is left out: it has no effect
 * but to end the wait, as the one behind the announcement does.
 */
inline sleep_until_enabled(n, has_deadline)
{
	do
	::
#ifdef MUTANT_LOOKS_BEFORE_SLEEPERS_BIT
		watch_grants();
		LOOK(n, break, );
		wait_announce(n);
#else
		wait_announce(n);
		watch_grants();
		LOOK(n, break, );
#endif
		if
		:: word_is_posted(seen, sleeps_on(n)) -> polls = true
		:: else ->
			STEP(if
			     :: array[sleep_word(n)] == seen -> asleep[me] = sleep_code(n); check_word(sleep_word(n))
			     :: else
			     fi)
		fi;
		if
		OR_DIE
		:: d_step { polls && !is_over_for(n) && has_deadline -> polls = false; forget_announcement };
			break
		:: d_step { polls && over -> polls = false; seen = 0 };
			goto gone
		:: d_step { polls && is_over_for(n) -> polls = false }
		:: !polls && !asleep[me]
		:: d_step { has_deadline && asleep[me] -> asleep[me] = 0; forget_announcement };
			break
		:: d_step { over -> asleep[me] = 0; seen = 0 };
			goto gone
		fi
	od;
	if
	:: ok -> wait_retract(n)
	:: else
	fi;
	forget_announcement
}
