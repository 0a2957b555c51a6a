/* SPDX-License-Identifier: MIT */
/*
 * The last look, once nobody can move any more. If somebody died since the last one, a round of ticks comes first:
 * every sleeper looks at E, and one of them for dead owners. Nothing in the protocol waits for this process.
 */

#define SLEEPS(p) (asleep[p] > 0)
#if PROCESSES > 3
#define CHOOSE_LOOKER if :: SLEEPS(0) -> looker = 0 :: SLEEPS(1) -> looker = 1 :: SLEEPS(2) -> looker = 2 :: SLEEPS(3) -> looker = 3 fi
#define SOMEBODY_SLEEPS (SLEEPS(0) || SLEEPS(1) || SLEEPS(2) || SLEEPS(3))
#elif PROCESSES > 2
#define CHOOSE_LOOKER if :: SLEEPS(0) -> looker = 0 :: SLEEPS(1) -> looker = 1 :: SLEEPS(2) -> looker = 2 fi
#define SOMEBODY_SLEEPS (SLEEPS(0) || SLEEPS(1) || SLEEPS(2))
#else
#define CHOOSE_LOOKER if :: SLEEPS(0) -> looker = 0 :: SLEEPS(1) -> looker = 1 fi
#define SOMEBODY_SLEEPS (SLEEPS(0) || SLEEPS(1))
#endif

hidden short tickets_of_the_living;

/* Nobody who could have been admitted sleeps on. Reckoned from the witness's books alone. */
inline check_sleepers()
{
	i_ = 0;
	do
	:: i_ < PROCESSES ->
		if
		:: asleep[i_] > 0 ->
			count_in_front(i_, its_ticket[i_]);
			assert(with_those_in_front + waits_for[i_] > C /* lost_wakeup */);
			assert(!entitled[i_] || died_ever /* lost_wakeup */)
		:: else
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0
}

/* Promoted, and asleep: not even a setter's death excuses it. */
inline check_promoted()
{
	i_ = 0;
	do
	:: i_ < RECORDS ->
		if
		:: who[i_] > 0 && who[i_] < 512 ->
			assert(!(what_state(what[i_]) == HELD && asleep[who[i_] - 1] > 0) /* lost_wakeup */)
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
		:: who[i_] == 0 -> assert(what_state(what[i_]) == IDLE /* record_left */)
		:: else ->
			if
			:: who_is_orphan(who[i_]) || dead[who_process(who[i_])] ->
				assert(what_state(what[i_]) == QUEUED
				       && counter_diff(word_counter(G) + C, what_value(what[i_])) < 0 /* record_left */);
				tickets_of_the_living = tickets_of_the_living + count[i_]
			:: else
			fi
		fi;
		i_++
	:: else -> break
	od;
	i_ = 0;
	assert(counter_diff(word_counter(T), word_counter(G)) == tickets_of_the_living /* conservation */)
}

proctype rest()
{
	byte me = 7; /* nobody may kill it */
	bool died_ever;
	LOCALS;
	do
	:: timeout ->
		atomic {
			died_ever = died_ever || somebody_died;
			if
			:: somebody_died && SOMEBODY_SLEEPS ->
				somebody_died = false;
				CHOOSE_LOOKER;
				d_step {
					i_ = 0;
					do
					:: i_ < PROCESSES -> asleep[i_] = 0; i_++
					:: else -> break
					od;
					i_ = 0
				}
			:: else -> break
			fi
		}
	od;
	STEP(check_sleepers(); check_promoted());
#if CRASHES > 0
	recover_states(false);
	recover_front();
	recover_states(true);
#endif
	timeout -> d_step { check_books(); over = true };
gone:
	skip
}
