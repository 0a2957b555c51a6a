/* SPDX-License-Identifier: MIT */
/*
 * lib/recovery/look.c, and from lib/queue/wait.c which waiter looks when: a model by itself, in which time passes. A holder without a
 * presence lock dies while waiters of two PID namespaces sleep. One unit of time stands for LOOKOUT_EVERY; it passes
 * when no process has anything to do, except processes that are stopped. Waiters arrive at any time, may die or be
 * stopped before each step, and may give up when they wake. Every mix of namespaces is tried.
 *
 * The promises: a process that can judge the holder begins a look in time after its death, and completes it; and those
 * who have become the last ones in line look as often as the last ones do, SLOW_TICK after the others left.
 */
#define TICK 2
#define SLOW_TICK 7
#define DEPUTIES 1
/* When the holder dies. Before, no waiter dies or is stopped. */
#ifndef DEATH_FROM
#define DEATH_FROM 0
#define DEATH_BEFORE SLOW_TICK
#endif
#define END_OF_TIME (DEATH_BEFORE + SLOW_TICK + 1)

#define PROMISE(name, condition) name = (condition); assert(name)
hidden byte recovered_in_time, places_known;

byte clock;
byte line; /* the number of waiters that have arrived */
bool left[WAITERS]; /* has given up */
byte left_last; /* when the last one did */
bool idle[WAITERS]; /* dead or stopped: time passes without this one */
bool asleep[WAITERS];
bool woken[WAITERS];
byte due[WAITERS];
byte namespace[WAITERS];
byte faults = FAULTS;
byte leavers = LEAVERS;

byte holder_namespace;
bool holder_is_dead;
bool recovered;
byte overdue; /* units of time since the death in which a live waiter could have judged */

/* The words of the header: when the last complete look of a namespace began, plus 1; and the calls. */
byte looks[2];
byte called;
byte turn; /* modulo a multiple of each number of waiters */

#ifdef MUTANT_LOOKS_SHARED_BY_ALL
#define look_of(me) looks[0]
#else
#define look_of(me) looks[namespace[me]]
#endif

#define is_due(i) (clock >= due[i] || woken[i])

/* A step, before which the waiter may die, or be stopped for any time. */
#define STEP(statement) \
	if \
	:: d_step { faults > 0 && clock >= DEATH_FROM -> faults--; idle[me] = true }; \
		if \
		:: goto gone \
		:: d_step { idle[me] = false; statement } \
		fi \
	:: d_step { statement } \
	fi

/* ---- how often a waiter looks ---- */

#if WAITERS > 3
#define left_behind(i) (((i) < 1 && left[1]) + ((i) < 2 && left[2]) + ((i) < 3 && left[3]))
#else
#define left_behind(i) (((i) < 1 && left[1]) + ((i) < 2 && left[2]))
#endif
#define behind(i) (line - 1 - (i) - left_behind(i))
#define look_period(i) (behind(i) == 0 -> 1 : (behind(i) <= DEPUTIES -> TICK : SLOW_TICK))
#ifdef MUTANT_PLACE_LEARNT_BY_LOOKS
#define knows_its_place (done && period != 0)
#else
#define knows_its_place false
#endif
#define next_multiple(period) ((clock / (period) + 1) * (period))

/* ---- the look ---- */

hidden byte i_, n_;

#ifdef MUTANT_JUDGE_NOT_CALLED
#define may_call(me) false
#else
#define may_call(me) (holder_namespace != namespace[me] && !recovered && called != clock / TICK + 1)
#endif
#ifdef MUTANT_SAME_JUDGE_CALLED
#define next_turn turn
#else
#define next_turn ((turn + 1) % 12)
#endif

#define can_judge(i) (i < line && namespace[i] == holder_namespace)

/* At each turn, wakes another waiter of the holder's namespace, live or dead. */
inline call_judges()
{
	if
	:: may_call(me) ->
		called = clock / TICK + 1;
		n_ = 0;
		for (i_ : 0 .. WAITERS - 1) {
			n_ = n_ + can_judge(i_)
		}
		n_ = (n_ == 0 -> 0 : turn % n_ + 1);
		for (i_ : 0 .. WAITERS - 1) {
			woken[i_] = (can_judge(i_) && n_ == 1 -> asleep[i_] : woken[i_]);
			n_ = n_ - (can_judge(i_) && n_ > 0)
		}
		turn = next_turn;
		i_ = 0
	:: else
	fi
}

#ifdef MUTANT_LOOK_COUNTS_FROM_ITS_END
#define first_instant clock
#else
#define first_instant began
#endif
#ifdef MUTANT_LOOK_COUNTS_AT_ONCE
#define note_before STEP(look_of(me) = began + 1)
#define note_after skip
#else
#define note_before skip
#define note_after STEP(look_of(me) = first_instant + 1)
#endif

inline look()
{
	note_before;
	STEP(recovered = recovered || (holder_is_dead && namespace[me] == holder_namespace); call_judges());
	note_after
}

proctype waiter(byte me)
{
	byte since, began, period;
	bool done;
	d_step { line == me -> line++; since = clock - (clock > 0) };
	do
	::
		STEP(began = clock; done = look_of(me) > since);
		if
		:: done
		:: !done -> look()
		fi;
		d_step {
			period = (knows_its_place -> period : look_period(me));
			due[me] = next_multiple(period);
			asleep[me] = true;
			began = 0;
			done = false;
			since = 0
		};
	end_of_wait:
		if
		:: d_step { leavers > 0 && !recovered -> leavers--; left[me] = true; left_last = clock; idle[me] = true }; break
		:: d_step {
				is_due(me) && !recovered ->
				since = (clock >= due[me] -> due[me] : clock - (clock > 0));
				asleep[me] = false;
				woken[me] = false
			}
		fi
	od;
gone:
	skip
}

/* ---- the rest of the world ---- */

proctype holder()
{
	if
	:: d_step { clock >= DEATH_FROM && clock < DEATH_BEFORE -> holder_is_dead = true }
	:: clock >= DEATH_BEFORE
	fi
}

#ifdef ARRIVE_AT_ONCE
#define has_work(i) (!idle[i] && !(asleep[i] && !is_due(i)))
#else
#define has_work(i) (i < line && !idle[i] && !(asleep[i] && !is_due(i)))
#endif
#define is_in_place(i) (i >= line || idle[i] || due[i] - clock <= look_period(i))
#define could_judge(i) (i < line && !idle[i] && namespace[i] == holder_namespace)
#if WAITERS > 3
#define any(what) (what(0) || what(1) || what(2) || what(3))
#define all(what) (what(0) && what(1) && what(2) && what(3))
#else
#define any(what) (what(0) || what(1) || what(2))
#define all(what) (what(0) && what(1) && what(2))
#endif

proctype time()
{
	do
	:: d_step {
			clock < END_OF_TIME && !recovered && !any(has_work) ->
			overdue = (holder_is_dead && any(could_judge) -> overdue + 1 : 0);
			PROMISE(recovered_in_time, overdue <= OVERDUE_MAX);
			PROMISE(places_known, clock < left_last + SLOW_TICK || all(is_in_place));
			clock++
		}
	:: recovered || clock == END_OF_TIME -> break
	od
}

#define ANY_NAMESPACE(of) if :: of = 0 :: of = 1 fi
#ifdef FIRST_IS_DEAD
#define run_first line = 1; idle[0] = true; asleep[0] = true
#else
#define run_first run waiter(0)
#endif

init {
	atomic {
		holder_namespace = 0;
		ANY_NAMESPACE(namespace[0]);
		ANY_NAMESPACE(namespace[1]);
		ANY_NAMESPACE(namespace[2]);
#if WAITERS > 3
		ANY_NAMESPACE(namespace[3]);
		run waiter(3);
#endif
		run_first;
		run waiter(1);
		run waiter(2);
		run holder();
		run time()
	}
}
