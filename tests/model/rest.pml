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
			PROMISE(no_wakeup_lost, with_those_in_front + waits_for[i_] > C);
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
			:: asleep[i_] > 0 && word_slept_on(i_) < SLOTS && !is_to_be_woken(slot[word_slept_on(i_)])
			:: else -> asleep[i_] = 0
			fi;
			i_++
		:: else -> break
		od;
		i_ = 0
	}
}

/* Promoted, and asleep: not even a setter's death excuses it. */
inline check_promoted()
{
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: who[i_] > 0 && who[i_] < 512 ->
			PROMISE(no_wakeup_lost, !(what_state(what[i_]) == HELD && asleep[who[i_] - 1] > 0))
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
	tickets_of_the_living = with_those_in_front;
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: who[i_] == 0 -> PROMISE(records_of_the_dead_freed, what_state(what[i_]) == IDLE)
		:: else ->
			if
			:: who_is_orphan(who[i_]) || dead[who_process(who[i_])] ->
				PROMISE(records_of_the_dead_freed, what_state(what[i_]) == QUEUED
				       && counter_diff(word_counter(G) + C, what_value(what[i_])) <= 0 /* next: it has nothing */
				       && (who_is_orphan(who[i_]) || !is_holder[who_process(who[i_])]));
				tickets_of_the_living = tickets_of_the_living + count[i_]
			:: else
			fi
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0;
	PROMISE(books_balance, counter_diff(word_counter(T), word_counter(G)) == tickets_of_the_living)
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
			died_ever = died_ever || somebody_died;
			count_sleepers();
			if
			:: somebody_died && sleepers > 0 ->
				somebody_died = false;
				wake_overlooked()
			:: else ->
				d_step { check_sleepers(); check_promoted() };
				last = true
			fi
		};
#if CRASHES > 0
		recover_from(EVERYBODY, last);
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
