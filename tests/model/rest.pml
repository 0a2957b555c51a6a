/* SPDX-License-Identifier: MIT */
/*
 * The checks when no process can move any more. If a process has died since the last check, a tick comes first: the
 * process below recovers the dead owners, and wakes the waiters on the words whose bits say that they sleep. It does
 * not die itself; other configurations have recoverers that may. A waiter that is not woken would wake up by itself,
 * but perhaps a tick later than promised: here it never does. The protocol does not wait for this process.
 */

hidden short tickets_of_the_living;
hidden byte sleepers;

/* No waiter sleeps that could have been admitted. Computed from the books of the witness alone. */
inline check_sleepers()
{
	i_ = 0;
	do
	:: i_ < PROCESSES ->
		if
#ifdef IDLERS
		:: is_idle_sleeper(i_) ->
			reckon_idle();
			PROMISE(no_wakeup_lost, !IS_IDLE((asleep[i_] - 1) & 3))
		:: asleep[i_] > 0 && !is_idle_sleeper(i_) ->
#else
		:: asleep[i_] > 0 ->
#endif
			count_in_front(i_, its_ticket[i_]);
			PROMISE(no_wakeup_lost, in_use_and_in_front + waits_for[i_] > C);
#ifdef SETTER
			PROMISE(no_wakeup_lost, !entitled[i_] || died_ever || raced)
#endif
		:: else
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0
}

inline count_sleepers()
{
	d_step {
		i_ = 0;
		sleepers = 0;
		do
		:: i_ < PROCESSES ->
			if
			:: asleep[i_] > 0 -> sleepers++
			:: else
			fi;
			i_++
		:: else -> break
		od;
		i_ = 0
	}
}

/* Wakes the waiters that are not enabled as well. */
inline wake_overlooked()
{
	d_step {
		sleepers = 0;
		do
		:: i_ < PROCESSES ->
			if
			:: asleep[i_] > 0 && word_slept_on(i_) < ARRAY_WORDS && !has_sleepers(array[word_slept_on(i_)])
			:: else -> asleep[i_] = 0
			fi;
			i_++
		:: else -> break
		od;
		i_ = 0
	}
}

/* No waiter sleeps that a setter has admitted, even if the setter has died. */
inline check_admitted()
{
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: owner[i_] > 0 && owner[i_] < 512 ->
			PROMISE(no_wakeup_lost, !(state_kind(state[i_]) == STATE_HELD && asleep[owner_pid(owner[i_])] > 0))
		:: else
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0
}

/* After a recovery: the living have all permits that are out, and the dead have only tickets behind live waiters. */
inline check_books()
{
	count_in_front(PROCESSES, T >> 4);
	tickets_of_the_living = in_use_and_in_front;
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: owner[i_] == 0 -> PROMISE(records_of_the_dead_freed, state_kind(state[i_]) == STATE_IDLE)
		:: else ->
			if
			:: owner_is_orphan(owner[i_]) || dead[owner_pid(owner[i_])] ->
				PROMISE(records_of_the_dead_freed, state_kind(state[i_]) == STATE_QUEUED
				       && counter_diff(counter_value(G) + C, state_value(state[i_])) <= 0
				       && (owner_is_orphan(owner[i_]) || !is_holder[owner_pid(owner[i_])]));
				tickets_of_the_living = tickets_of_the_living + count[i_]
			:: else
			fi
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0;
	PROMISE(books_balance, counter_diff(counter_value(T), counter_value(G)) == tickets_of_the_living)
}

proctype rest()
{
	byte me = 7; /* it does not die */
	bool died_ever;
	bool last;
	LOCALS;
	do
#if CRASHES > 0
	/*
	 * No process dies from now on. Otherwise a sleeper could always move, namely die, and the timeout would come
	 * only after all deaths.
	 */
	:: crashes_left > 0 -> crashes_left = 0
#endif
	:: timeout ->
		atomic {
			died_ever = died_ever || recent_death;
			count_sleepers();
			if
			:: recent_death && sleepers > 0 ->
				recent_death = false;
				wake_overlooked()
			:: else ->
				d_step { check_sleepers(); check_admitted() };
				last = true
			fi
		};
#if CRASHES > 0
		recover_from(ALL, last);
#endif
		if
		:: last -> break
		:: else
		fi
	od;
	timeout -> d_step { check_books(); over = true };
dies: /* never reached */
	skip
}
