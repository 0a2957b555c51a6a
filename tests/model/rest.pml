/* SPDX-License-Identifier: MIT */
/*
 * The last look, once nobody can move any more. If somebody died since the last one, a tick comes first: somebody looks for
 * dead owners, and wakes those whose words say that they sleep; these look at E again. (The process below does that; that a
 * recoverer may die, too, is another configuration's matter.) Who is not woken wakes up by itself, but perhaps a tick later
 * than promised: here, never. Nothing in the protocol waits for this process.
 */

hidden short tickets_of_the_living;
hidden byte sleepers;

/* Nobody who could have been admitted sleeps on. Reckoned from the witness's books alone. */
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

/* wake_overlooked(), except that it wakes those as well who are not enabled. */
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

/* Promoted, and asleep: not even a setter's death excuses it. */
inline check_admitted()
{
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: owner[i_] > 0 && owner[i_] < 512 ->
			PROMISE(no_wakeup_lost, !(state_kind(state[i_]) == STATE_HELD && asleep[owner[i_] - 1] > 0))
		:: else
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0
}

/* After one recover: what is out is with the living, and the dead have nothing but places behind live waiters. */
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
				       && counter_diff(counter_value(G) + C, state_value(state[i_])) <= 0 /* next: it has nothing */
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
	byte me = 7; /* nobody may kill it */
	bool died_ever;
	bool last;
	LOCALS;
	do
#if CRASHES > 0
	/*
	 * Nobody dies from now on. Without this a sleeper would always have something left to do, to die, and the end be
	 * looked at only where all had died who may.
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
dies: /* nobody comes here */
	skip
}
