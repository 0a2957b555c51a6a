/* SPDX-License-Identifier: MIT */
/* lib/wake/wake.c, and the part of the kernel in it. */

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

/* The same for at most one process. Any of them: the kernel does not say which. */
#define none_sleeps_on_word(s, bits) \
	(!sleeps_on_word(0, s, bits) && !sleeps_on_word(1, s, bits) \
	 && !sleeps_on_word(2, s, bits) && !sleeps_on_word(3, s, bits))
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
 * What the sleeper bits of a word promise to wakers, and to a process that looks for waiters that a dead waker has
 * overlooked. Checked where a process falls asleep, and where bits are cleared.
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
#define word_woken(w, bits) \
	(word_next_sequence(w) & ((bits) == ALL_BITS && ((w) & WORD_SEVERAL) -> ~WORD_SLEEPERS : ~0))
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

/* The read and the compare-and-swap of a word are one step, because a read whose swap fails has no effect. */
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
		/* The kernel may have woken the waiter that announced itself in between instead. */
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

/* For a grant of mg_count from mg_from on, which is E before the move. */
inline wake_enabled()
{
	if
	:: mg_moved ->
		/* After the move of G: the other half of an arrival's "move T, then read E". */
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
