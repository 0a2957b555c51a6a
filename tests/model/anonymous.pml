/* SPDX-License-Identifier: MIT */
/*
 * lib/protocol/anonymous.c, and check_limits() of lib/calls/post.c: how many permits are taken anonymously, by G as it was read into
 * po_grants and T as it was read into an_tickets. `lowest` is the witness's: the lowest number during each post.
 */
hidden byte limit_kept;
hidden byte refused_rightly;
short lowest[PROCESSES];

#ifdef MUTANT_BOUND_IGNORES_ARRIVALS
#define is_arrival_counted(i, w) false
#else
#define is_arrival_counted(i, w) (counter_tag(an_tickets) == tag_make(i, state_arrival_phase(w)))
#endif
#ifdef MUTANT_BOUND_COUNTS_LATER_TICKETS
#define is_before(w) true
#else
#define is_before(w) (counter_diff(state_value(w), counter_value(an_tickets)) < 0)
#endif
#if defined(MUTANT_BOUND_IGNORES_RELEASES)
#define is_still_out(i, w) false
#elif defined(MUTANT_BOUND_COUNTS_RELEASED)
#define is_still_out(i, w) is_before(w)
#else
#define is_still_out(i, w) (is_before(w) && counter_tag(po_grants) != tag_make(i, state_release_phase(w)))
#endif
#define has_ticket(i, w) \
	((state_kind(w) == STATE_CLAIMED && is_arrival_counted(i, w)) \
	 || ((state_kind(w) == STATE_QUEUED || state_kind(w) == STATE_HELD) && is_before(w)) \
	 || (state_kind(w) == STATE_RELEASING && is_still_out(i, w)))

inline anonymous_count()
{
	an_count = counter_diff(counter_value(an_tickets), counter_value(po_grants));
	an_i = 0;
	do
	:: an_i < RECORDS ->
		STEP(an_state = state[an_i]; an_has = has_ticket(an_i, an_state));
		if
		:: an_has && state_kind(an_state) == STATE_CLAIMED -> STEP(an_has = (T == an_tickets))
		:: else
		fi;
		if
		:: an_has -> STEP(an_permits = count[an_i])
		:: else
		fi;
		if
		OR_DIE
		:: d_step { state[an_i] == an_state -> an_count = an_count - an_permits; an_permits = 0; an_i++ }
		:: d_step { state[an_i] != an_state -> an_permits = 0 }
		fi
	:: else -> break
	od;
	an_i = 0;
	an_state = 0;
	an_has = false
}

inline check_limits(n)
{
	anonymous_count();
	an_refused = an_count < n;
	an_count = 0;
	an_tickets = 0
}

/* At the first step of a post, at each post that succeeds, and at a refusal. */
inline note_post_begins()
{
	lowest[me] = anonymous
}

inline note_posted(n)
{
	PROMISE(limit_kept, anonymous >= n);
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: anonymous - n < lowest[p_] -> lowest[p_] = anonymous - n
		:: else
		fi;
		p_++
	:: else -> break
	od;
	p_ = 0
}

inline note_refused(n)
{
	PROMISE(refused_rightly, lowest[me] < n)
}
