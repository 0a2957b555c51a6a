/* SPDX-License-Identifier: MIT */
/* lib/queue/queue.c, in configurations that define MAX_WAITING: a process does not wait if so many others do. */

/* ---- the witness ---- */

hidden byte waiting_now;
hidden byte as_many_wait_as_may;
hidden byte the_line_was_full;

/* The live processes that wait and are not enabled. */
inline count_waiting()
{
	waiting_now = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: waits_for[p_] > 0 && ahead_of_at_once(its_ticket[p_]) < waits_for[p_] -> waiting_now++
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

/* ---- the look ---- */

#define is_last_arrival(i) \
	(state_kind(state[i]) == STATE_CLAIMED \
	 && counter_tag(ar_tickets) == tag_make(i, state_arrival_phase(state[i])))
#define lm_ticket(i) \
	(is_last_arrival(i) -> counter_add(counter_value(ar_tickets), 16 - count[i]) \
	                     : state_value(state[i]))
#define lm_is_waiter(i) \
	(owner[i] != 0 && !owner_is_orphan(owner[i]) && !dead[owner_pid(owner[i])] \
	 && (state_kind(state[i]) == STATE_QUEUED \
	     || is_last_arrival(i)) \
	 && counter_diff(lm_limit, lm_ticket(i)) < count[i])

#ifdef MUTANT_LIMIT_WITHOUT_SECOND_LOOK
#define T_has_moved(tickets) false
#else
#define T_has_moved(tickets) (T != (tickets))
#endif

/*
 * is_line_full() and arrive_if_allowed(): census_counters() is one step, and so are a record and the judgement of its
 * owner. `ok`: the process has a ticket.
 */
inline arrive_unless_full(n)
{
	do
	:: STEP(ar_tickets = T;
	        lm_limit = counter_add(counter_value(G), C);
	        count_waiting();
	        lm_was_full = waiting_now >= MAX_WAITING);
		do
		:: lm_i < RECORDS ->
			STEP(lm_n = lm_n + lm_is_waiter(lm_i); lm_i++)
		:: else -> break
		od;
		lm_limit = 0;
		lm_i = 0;
		if
		OR_DIE
		:: d_step {
				lm_n >= MAX_WAITING && !T_has_moved(ar_tickets) ->
				PROMISE(the_line_was_full, lm_was_full);
				ok = false;
				ar_tickets = 0
			};
			break
		:: d_step {
				lm_n >= MAX_WAITING && T_has_moved(ar_tickets) ->
				ar_tickets = 0
			}
		:: lm_n < MAX_WAITING ->
			if
			OR_DIE
			:: d_step { may_be_overwritten_in_T(counter_tag(ar_tickets), arrival_tag) -> skip }
			:: d_step { !may_be_overwritten_in_T(counter_tag(ar_tickets), arrival_tag) -> skip };
				finish_arrival(ar_tickets)
			fi;
#ifdef MUTANT_LIMIT_WITHOUT_COMPARING
			STEP(ar_tickets = T);
#endif
			if
			OR_DIE
			:: CAS_WORKS(T, ar_tickets,
			             counter_word_make(counter_add(counter_value(ar_tickets), n), arrival_tag),
			             count_waiting();
			             PROMISE(as_many_wait_as_may, waiting_now < MAX_WAITING);
			             ticket = counter_value(ar_tickets);
			             waits_for[me] = n;
			             its_ticket[me] = ticket;
			             ok = true;
			             ar_tickets = 0);
				break
			:: CAS_FAILS(T, ar_tickets, ar_tickets = 0)
			fi
		fi;
		lm_n = 0;
		lm_was_full = false
	od;
	lm_n = 0;
	lm_was_full = false
}

/* `ok`: admitted. */
inline acquire_unless_full(n, has_deadline)
{
	record_claim(n);
	arrive_unless_full(n);
	if
	:: ok ->
		LOOK(n, , queue_wait(n, has_deadline));
		skip_orphans_if_admitted();
		if
		:: ok -> hold_become()
		:: else
		fi
	:: else ->
		mark_idle();
		record_cache_or_free()
	fi
}
