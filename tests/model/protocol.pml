/* SPDX-License-Identifier: MIT */
/* lib/protocol.[ch]: the moves of T and G on the slow path. */

/*
 * E is read in two steps, G and then C, if a process of the configuration sets the capacity: read_first_half, and then
 * a step that uses enabled_limit.
 */
#ifndef SETTER
#define read_first_half
#define enabled_limit counter_add(counter_value(G), C)
#elif defined(MUTANT_C_BEFORE_G)
#define read_first_half STEP(first_half = C);
#define enabled_limit counter_add(counter_value(G), first_half)
#else
#define read_first_half STEP(first_half = counter_value(G));
#define enabled_limit counter_add(first_half, C)
#endif

/* How far E is ahead of a ticket. */
#define ahead_of(ticket) counter_diff(enabled_limit, ticket)

#define is_unfinished_arrival(w, tickets) \
	(state_kind(w) == STATE_CLAIMED && state_arrival_phase(w) == tag_phase(counter_tag(tickets)))

inline finish_arrival(tickets)
{
	if
	OR_DIE
	:: d_step { !is_unfinished_arrival(state[tag_record(counter_tag(tickets))], tickets) -> skip }
	:: d_step {
			is_unfinished_arrival(state[tag_record(counter_tag(tickets))], tickets) ->
			fa_state = state[tag_record(counter_tag(tickets))]
		};
		STEP(fa_count = count[tag_record(counter_tag(tickets))]);
#ifndef MUTANT_ARRIVAL_WITHOUT_SECOND_LOOK
		if
		OR_DIE
		:: d_step { T != tickets -> fa_state = 0; fa_count = 0 }
		:: T == tickets ->
#endif
			STEP(
#ifdef MUTANT_ARRIVAL_FINISHED_BY_STORE
			     state[tag_record(counter_tag(tickets))] =
				     state_next(fa_state, STATE_QUEUED, counter_value(tickets) - fa_count);
#else
			     CAS(state[tag_record(counter_tag(tickets))], fa_state,
			         state_next(fa_state, STATE_QUEUED, counter_value(tickets) - fa_count));
#endif
			     fa_state = 0;
			     fa_count = 0)
#ifndef MUTANT_ARRIVAL_WITHOUT_SECOND_LOOK
		fi
#endif
	fi
}

/* The tag is no record's, or the last one of the record whose tag `mine` is. */
#define is_replaceable(tag, mine) ((tag) >= TAG_WATCHED_FIRST || ((tag) ^ (mine)) <= 1)

#ifdef MUTANT_ARRIVAL_NOT_FINISHED
#define may_be_overwritten_in_T(tag, mine) true
#else
#define may_be_overwritten_in_T(tag, mine) is_replaceable(tag, mine)
#endif
#ifdef MUTANT_RELEASE_NOT_FINISHED
#define may_be_overwritten_in_G(tag, mine) true
#else
#define may_be_overwritten_in_G(tag, mine) is_replaceable(tag, mine)
#endif

#define arrival_tag tag_make(r, state_arrival_phase(state[r]))

/* arrive(ARRIVE_IN_LINE). The check for EOVERFLOW is left out: the counters do not drift that far here. */
inline arrive_in_line(n, is_waiter)
{
	do
	::
		if
		OR_DIE
		:: d_step { may_be_overwritten_in_T(counter_tag(T), arrival_tag) -> ar_tickets = T }
		:: d_step { !may_be_overwritten_in_T(counter_tag(T), arrival_tag) -> ar_tickets = T };
			finish_arrival(ar_tickets)
		fi;
		if
		OR_DIE
		:: CAS_WORKS(T, ar_tickets, counter_word_make(counter_add(counter_value(ar_tickets), n), arrival_tag),
		             ticket = counter_value(ar_tickets);
		             if
		             :: is_waiter -> waits_for[me] = n; its_ticket[me] = ticket
		             :: else
		             fi;
		             ar_tickets = 0);
			break
		:: CAS_FAILS(T, ar_tickets, ar_tickets = 0)
		fi
	od
}

/*
 * arrive(ARRIVE_IF_ENABLED), for the tag of the own record or TAG_NONE. `ok`: the process has the ticket. fast_take()
 * needs no function of its own: it is one round of this one, and goes on with the next round if it fails.
 *
 * T before E: a setter that lowers the capacity relies on the CAS of T to fail if T moved since E was read.
 */
#ifdef MUTANT_E_READ_BEFORE_T
#define read_T_then_E \
	STEP(first_half = counter_value(G)); \
	STEP(first_half = counter_add(first_half, C)); \
	STEP(ar_tickets = T);
#define ahead_at_arrival counter_diff(first_half, counter_value(ar_tickets))
#else
#define read_T_then_E \
	STEP(ar_tickets = T); \
	read_first_half
#define ahead_at_arrival ahead_of(counter_value(ar_tickets))
#endif

inline arrive_if_enabled(n, tag)
{
	do
	:: read_T_then_E
		if
		OR_DIE
		:: d_step { ahead_at_arrival < n -> ok = false; ar_tickets = 0; first_half = 0 };
			break
		:: d_step {
				(ahead_at_arrival >= n && may_be_overwritten_in_T(counter_tag(ar_tickets), tag)) ->
				first_half = 0
			}
		:: d_step {
				(ahead_at_arrival >= n && !may_be_overwritten_in_T(counter_tag(ar_tickets), tag)) ->
				first_half = 0
			};
			finish_arrival(ar_tickets)
		fi;
		if
		OR_DIE
		:: CAS_WORKS(T, ar_tickets, counter_word_make(counter_add(counter_value(ar_tickets), n), tag),
		             ticket = counter_value(ar_tickets);
		             if
		             :: (tag) == TAG_NONE -> note_anonymous_admission(ticket, n)
		             :: else -> note_admission(ticket, n)
		             fi;
		             ok = true;
		             ar_tickets = 0);
			break
		:: CAS_FAILS(T, ar_tickets, ar_tickets = 0)
		fi
	od
}

#define is_unfinished_release(w, grants) \
	(state_kind(w) == STATE_RELEASING && state_release_phase(w) == tag_phase(counter_tag(grants)))

inline finish_release(grants)
{
	if
	OR_DIE
	:: d_step { !is_unfinished_release(state[tag_record(counter_tag(grants))], grants) -> skip }
	:: d_step {
			is_unfinished_release(state[tag_record(counter_tag(grants))], grants) ->
			fr_state = state[tag_record(counter_tag(grants))]
		};
		STEP(fr_gen = gen[tag_record(counter_tag(grants))]);
#ifndef MUTANT_RELEASE_WITHOUT_SECOND_LOOK
		if
		OR_DIE
		:: d_step { G != grants -> fr_state = 0; fr_gen = 0 }
		:: G == grants ->
#endif
			STEP(
#ifdef MUTANT_RELEASE_FINISHED_BY_STORE
			     state[tag_record(counter_tag(grants))] = state_released(fr_state, fr_gen);
#else
			     CAS(state[tag_record(counter_tag(grants))], fr_state, state_released(fr_state, fr_gen));
#endif
			     fr_state = 0;
			     fr_gen = 0)
#ifndef MUTANT_RELEASE_WITHOUT_SECOND_LOOK
		fi
#endif
	fi
}

/*
 * C is read after G, as everywhere, and T after both (wake_enabled). Without a setter the read of C is no step. C
 * before G would do here: a setter changes G's tag after its store of C, for the posts.
 */
#if !defined(SETTER)
#define C_WITH_G C
#define C_AFTER_G
#else
#define C_WITH_G 0
#define C_AFTER_G STEP(mg_from = counter_add(mg_from, C));
#endif
#ifdef MUTANT_T_READ_BEFORE_G_MOVED
#define T_BEFORE_G STEP(mg_tickets = counter_value(T));
#define T_AFTER_G mg_tickets
#else
#define T_BEFORE_G
#define T_AFTER_G counter_value(T)
#endif

#define release_tag(index, w) tag_make(index, state_release_phase(w))

#ifdef MUTANT_TAG_OF_G_IGNORED
#define is_moved_for(grants, index, w) false
#else
#define is_moved_for(grants, index, w) (counter_tag(grants) == release_tag(index, w))
#endif

/* For the RELEASING state `w` of a record. mg_mine: MOVE_DONE, so the caller takes the state on to IDLE. */
inline move_grants(index, w)
{
	STEP(mg_count = count[index]);
	T_BEFORE_G
	PENDING_BEFORE_G
	do
	::
#ifdef MUTANT_STATE_READ_BEFORE_G
		STEP(ok = (state[index] == w));
		if
		OR_DIE
		:: d_step { is_moved_for(G, index, w) -> mg_mine = true };
			break
		:: d_step { !ok && !is_moved_for(G, index, w) -> mg_mine = false };
			break
		:: d_step { ok && !is_moved_for(G, index, w) -> mg_grants = G }
		fi;
		if
		:: may_be_overwritten_in_G(counter_tag(mg_grants), release_tag(index, w))
		:: else -> finish_release(mg_grants)
		fi;
#else
		if
		OR_DIE
		:: d_step { is_moved_for(G, index, w) -> mg_mine = true };
			break
		:: d_step { !is_moved_for(G, index, w) -> mg_grants = G }
		fi;
		if
		OR_DIE
		:: d_step { state[index] != w -> mg_mine = false; mg_grants = 0 };
			break
		:: state[index] == w && may_be_overwritten_in_G(counter_tag(mg_grants), release_tag(index, w))
		:: state[index] == w && !may_be_overwritten_in_G(counter_tag(mg_grants), release_tag(index, w)) ->
			finish_release(mg_grants)
		fi;
#endif
		if
		OR_DIE
		:: CAS_WORKS(G, mg_grants,
		             counter_word_make(counter_add(counter_value(mg_grants), mg_count), release_tag(index, w)),
		             mg_moved = true;
		             mg_mine = true;
		             mg_from = counter_add(counter_value(mg_grants), C_WITH_G);
		             mg_grants = 0);
			C_AFTER_G
			break
		:: CAS_FAILS(G, mg_grants, mg_grants = 0)
		fi
	od
}

inline release_for_owner(index, w)
{
	move_grants(index, w);
	if
	:: mg_mine ->
		STEP(fr_gen = gen[index]);
		STEP(CAS(state[index], w, state_released(w, fr_gen)); fr_gen = 0)
	:: else
	fi
}
