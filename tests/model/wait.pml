/* SPDX-License-Identifier: MIT */
/* lib/queue/wait.c. Spinning is left out: it is only one more look. */

/*
 * wait_is_over(). The witness counts the look that says so as the admission. `over` or `not_yet`, a statement or
 * nothing, comes next. The look for HELD is left out if no process of the configuration sets the capacity.
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
#ifdef ON_ALL_BITS /* mask of the processes that sleep as tsem_acquire_any() does, which cannot choose the bits */
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

/*
 * `seen` is what the last call of this wait returned: if the word still has it, the announcement is the waiter's own.
 */
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

/*
 * What ends the short sleeps of a waiter whose word says that a post is about to enable it. Here it blocks until then.
 */
#define ahead_of_at_once(ticket) counter_diff(counter_add(counter_value(G), C), ticket)
#define is_over_for(n) (ahead_of_at_once(ticket) >= n || state_kind(state[r]) == STATE_HELD)

/* The look at the word and the swap are one step: the swap fails if the word has changed. */
#define is_only_ours(n) \
	((seen & WORD_SLEEPER_BITS) == WORD_SLEEPERS \
	 && (array[sleep_word(n)] == seen \
	     || (!word_is_posted(seen, sleeps_on(n)) && array[sleep_word(n)] == word_posted(seen, sleeps_on(n)))))
#ifdef MUTANT_RETRACTED_WITHOUT_COMPARING
#define may_retract(n) (seen != 0)
#else
#define may_retract(n) is_only_ours(n)
#endif
#define retract(n) \
	STEP(if \
	     :: may_retract(n) -> \
		     array[sleep_word(n)] = array[sleep_word(n)] & ~WORD_SLEEPERS; \
		     check_word(sleep_word(n)) \
	     :: else \
	     fi)

/*
 * `ok`: the waiter is enabled; otherwise its deadline has passed. A deadline may pass at any moment, and a tick comes
 * only when nothing else can happen (rest.pml). The look at the beginning of each round is left out: it can only end
 * the wait, as the look after the announcement does.
 */
inline wait_sleeping(n, has_deadline)
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
	:: ok -> retract(n)
	:: else
	fi;
	forget_announcement
}
