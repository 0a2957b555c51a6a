/* SPDX-License-Identifier: MIT */
/*
 * The witness: books about what the processes do, independent of the segment, and the promises that are checked against
 * them. The protocol reads none of these variables.
 */
byte in_use[PROCESSES];    /* the permits of its holds, from the admission to the release or its death */
byte waits_for[PROCESSES]; /* the permits that it waits for; 0: it does not wait */
byte its_ticket[PROCESSES];
bool is_holder[PROCESSES]; /* its record is HELD: after its death more than a ticket is left */
bool entitled[PROCESSES]; /* it was enabled when the capacity was lowered, so it counts as admitted */
short anonymous = -POSTED; /* the permits that were taken without a record, less those posted */
byte lowering;            /* the capacity before a lowering that has not taken effect */

/*
 * A lowering takes effect when the setter reads G, before tsem_set() returns: then it is known which waiters were
 * enabled.
 */
#define LIMIT (lowering > C -> lowering : C)

/* The promises have names, so that a failing run tells which one was broken. */
#define PROMISE(name, condition) name = (condition); assert(name)
hidden byte within_capacity;
hidden byte first_come_first_served;
hidden byte living_not_robbed;
hidden byte claimed_was_idle;
hidden byte there_was_room;
hidden byte no_wakeup_lost;
hidden byte sleepers_announced;
hidden byte idle_is_true;
hidden byte records_of_the_dead_freed;
hidden byte books_balance;

hidden byte p_;
hidden short permits_in_use;
hidden short in_use_and_in_front;

/* Computes permits_in_use, and the same with the permits of the live waiters before ticket `t`. */
inline count_in_front(p, t)
{
	permits_in_use = anonymous;
	in_use_and_in_front = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		permits_in_use = permits_in_use + in_use[p_];
		if
		:: p_ != p && waits_for[p_] > 0 && counter_diff(its_ticket[p_], t) < 0 ->
			in_use_and_in_front = in_use_and_in_front + waits_for[p_]
		:: else
		fi;
		p_++
	:: else -> break
	od;
	in_use_and_in_front = in_use_and_in_front + permits_in_use
}

/* Promises 1 and 2, at each admission. First come, first served: all waiters in front must have room as well. */
inline check_admission(t, n)
{
	count_in_front(me, t);
	PROMISE(within_capacity, entitled[me] || permits_in_use + n <= LIMIT);
	PROMISE(first_come_first_served, entitled[me] || in_use_and_in_front + n <= LIMIT);
	waits_for[me] = 0;
	entitled[me] = false;
	permits_in_use = 0;
	in_use_and_in_front = 0
}

/* A waiter that was declared dead has a record, but no place and no permits, whether it has noticed or not. */
#ifdef DECLARES
bool declared[PROCESSES];
#define is_void declared[me]
inline note_admission(t, n)
{
	if
	:: declared[me] -> waits_for[me] = 0
	:: else ->
		check_admission(t, n);
		in_use[me] = in_use[me] + n
	fi
}

/* Of process `p_`. */
inline note_declaration(n)
{
	if
	:: dead[p_]
	:: else ->
		declared[p_] = true;
		in_use[p_] = (in_use[p_] >= n -> in_use[p_] - n : 0);
		waits_for[p_] = 0
	fi;
	p_ = 0
}

#else
#define is_void false
inline note_admission(t, n)
{
	check_admission(t, n);
	in_use[me] = in_use[me] + n
}
#endif
#define note_end_of_hold(n) in_use[me] = in_use[me] - n

inline note_anonymous_admission(t, n)
{
	check_admission(t, n);
	anonymous = anonymous + n
}

#define RECORD_IS_OURS \
	(owner[r] == owner_process(me) \
	 && (is_void || state_kind(state[r]) == STATE_CLAIMED \
	     || ((state_kind(state[r]) == STATE_QUEUED || state_kind(state[r]) == STATE_HELD) \
	         && state_value(state[r]) == ticket)))

#ifdef MUTANT_HELD_IS_A_COMPARISON
#define HOLD_IS_OURS RECORD_IS_OURS
#else
#define HOLD_IS_OURS \
	(owner[r] == owner_process(me) && (is_void || HOLD_IS_THERE))
#endif
#define HOLD_IS_THERE (state_kind(state[r]) == STATE_HELD && state_value(state[r]) == ticket)
