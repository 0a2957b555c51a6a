/* SPDX-License-Identifier: MIT */
/* lib/protocol.c: every move of the two counters. */

/* E: G first, then C. Where nobody sets the capacity the second load is no step of its own. */
#ifdef SETTER
#ifdef MUTANT_C_BEFORE_G
#define load_limit(limit) STEP(look_capacity = C); STEP(limit = counter_add(look_capacity, word_counter(G)); look_capacity = 0)
#else
#define load_limit(limit) STEP(look_grants = word_counter(G)); STEP(limit = counter_add(look_grants, C); look_grants = 0)
#endif
#else
#define load_limit(limit) STEP(limit = counter_add(word_counter(G), C))
#endif

inline finish_arrival(tickets)
{
	if
	:: word_tag(tickets) == TAG_NONE
	:: else ->
		STEP(fa_what = what[tag_record(word_tag(tickets))]);
		if
		:: what_state(fa_what) == CLAIMED && what_a(fa_what) == tag_face(word_tag(tickets)) ->
			STEP(fa_count = count[tag_record(word_tag(tickets))]);
#ifdef MUTANT_ARRIVAL_WITHOUT_SECOND_LOOK
			ok = true;
#else
			STEP(ok = (T == tickets));
#endif
			if
			:: ok ->
#ifdef MUTANT_ARRIVAL_FINISHED_BY_STORE
				STEP(what[tag_record(word_tag(tickets))] =
				     what_next(fa_what, QUEUED, word_counter(tickets) - fa_count);
				     fa_what = 0;
				     fa_count = 0)
#else
				STEP(CAS(what[tag_record(word_tag(tickets))], fa_what,
				         what_next(fa_what, QUEUED, word_counter(tickets) - fa_count));
				     fa_what = 0;
				     fa_count = 0)
#endif
			:: else ->
				fa_what = 0;
				fa_count = 0
			fi
		:: else -> fa_what = 0
		fi
	fi
}

/* is_finished(): nobody's, or the same record's last one. */
#define is_finished(tag, mine) ((tag) == TAG_NONE || ((tag) ^ (mine)) <= 1)

#ifdef MUTANT_ARRIVAL_NOT_FINISHED
#define finish_tag_of_T(tickets, mine) skip
#else
#define finish_tag_of_T(tickets, mine) \
	if \
	:: is_finished(word_tag(tickets), mine) \
	:: else -> finish_arrival(tickets) \
	fi
#endif

#define my_arrival_tag tag_make(r, what_a(what[r]))

/* ARRIVE_IN_LINE. The look at E for EOVERFLOW is left out: the counters do not drift that far here. */
inline arrive_in_line(n, is_waiter)
{
	do
	:: STEP(ar_tickets = T);
		finish_tag_of_T(ar_tickets, my_arrival_tag);
		STEP(CAS_OK(ok, T, ar_tickets, word_make(counter_add(word_counter(ar_tickets), n), my_arrival_tag),
		            ticket = word_counter(ar_tickets);
		            if
		            :: is_waiter -> waits_for[me] = n; its_ticket[me] = ticket
		            :: else
		            fi);
		     ar_tickets = 0);
		if
		:: ok -> break
		:: else
		fi
	od
}

/*
 * ARRIVE_IF_ENABLED; `tag` of the own record, or TAG_NONE. `ok`: it has the ticket.
 * arrive_at_once() is the first round of it.
 */
inline arrive_if_enabled(n, tag)
{
	do
	:: STEP(ar_tickets = T);
		load_limit(ar_limit);
		if
		:: counter_diff(ar_limit, word_counter(ar_tickets)) < n ->
			ok = false;
			ar_tickets = 0;
			ar_limit = 0;
			break
		:: else
		fi;
		finish_tag_of_T(ar_tickets, tag);
		STEP(CAS_OK(ok, T, ar_tickets, word_make(counter_add(word_counter(ar_tickets), n), tag),
		            ticket = word_counter(ar_tickets);
		            if
		            :: (tag) == TAG_NONE -> admit_anonymously(ticket, n)
		            :: else -> admit(ticket, n)
		            fi);
		     ar_tickets = 0;
		     ar_limit = 0);
		if
		:: ok -> break
		:: else
		fi
	od
}

inline finish_release(grants)
{
	if
	:: word_tag(grants) == TAG_NONE
	:: else ->
		STEP(fr_what = what[tag_record(word_tag(grants))]);
		if
		:: what_state(fr_what) == RELEASING && what_b(fr_what) == tag_face(word_tag(grants)) ->
			STEP(fr_gen = gen[tag_record(word_tag(grants))]);
#ifdef MUTANT_RELEASE_WITHOUT_SECOND_LOOK
			ok = true;
#else
			STEP(ok = (G == grants));
#endif
			if
			:: ok ->
#ifdef MUTANT_RELEASE_FINISHED_BY_STORE
				STEP(what[tag_record(word_tag(grants))] = what_released(fr_what, fr_gen);
				     fr_what = 0;
				     fr_gen = 0)
#else
				STEP(CAS(what[tag_record(word_tag(grants))], fr_what, what_released(fr_what, fr_gen));
				     fr_what = 0;
				     fr_gen = 0)
#endif
			:: else ->
				fr_what = 0;
				fr_gen = 0
			fi
		:: else -> fr_what = 0
		fi
	fi
}

#ifdef MUTANT_RELEASE_NOT_FINISHED
#define finish_tag_of_G(grants, mine) skip
#else
#define finish_tag_of_G(grants, mine) \
	if \
	:: is_finished(word_tag(grants), mine) \
	:: else -> finish_release(grants) \
	fi
#endif

/* C after G, as everywhere, and T after both (wake_enabled). */
#if defined(MUTANT_C_READ_BEFORE_G_MOVED)
#define C_BEFORE_G STEP(mg_capacity = C);
#define C_AFTER_G mg_from = counter_add(mg_from, mg_capacity);
#elif defined(SETTER)
#define C_BEFORE_G
#define C_AFTER_G STEP(mg_from = counter_add(mg_from, C));
#else
#define C_BEFORE_G
#define C_AFTER_G mg_from = counter_add(mg_from, C);
#endif
#ifdef MUTANT_T_READ_BEFORE_G_MOVED
#define T_BEFORE_G STEP(wk_waiting = word_counter(T));
#define T_AFTER_G
#else
#define T_BEFORE_G
#define T_AFTER_G STEP(wk_waiting = word_counter(T));
#endif

/* move_grant() for the RELEASING state `w` of a record; mg_mine: its state has to go on to IDLE. */
inline move_grant(index, w)
{
	mg_moved = false;
	STEP(mg_count = count[index]);
	T_BEFORE_G
	do
	::
#ifdef MUTANT_WHAT_READ_BEFORE_G
		STEP(ok = (what[index] == w));
		STEP(mg_grants = G);
#else
		STEP(mg_grants = G);
#endif
#ifndef MUTANT_TAG_OF_G_IGNORED
		if
		:: word_tag(mg_grants) == tag_make(index, what_b(w)) ->
			mg_mine = true;
			mg_grants = 0;
			break
		:: else
		fi;
#endif
#ifndef MUTANT_WHAT_READ_BEFORE_G
		STEP(ok = (what[index] == w));
#endif
		if
		:: !ok ->
			mg_mine = false;
			mg_grants = 0;
			break
		:: else
		fi;
		finish_tag_of_G(mg_grants, tag_make(index, what_b(w)));
		C_BEFORE_G
		STEP(CAS_OK(ok, G, mg_grants,
		            word_make(counter_add(word_counter(mg_grants), mg_count), tag_make(index, what_b(w))),
		            mg_moved = true; mg_mine = true; mg_from = word_counter(mg_grants));
		     mg_grants = 0);
		if
		:: ok ->
			C_AFTER_G
			break
		:: else
		fi
	od
}

/* The same in one look, for a live owner's own record; otherwise move_grant(). */
inline move_own_grant(w, n)
{
	T_BEFORE_G
	C_BEFORE_G
	STEP(mg_grants = G);
	if
	:: is_finished(word_tag(mg_grants), tag_make(r, what_b(w))) ->
		STEP(CAS_OK(ok, G, mg_grants,
		            word_make(counter_add(word_counter(mg_grants), n), tag_make(r, what_b(w))),
		            mg_moved = true; mg_mine = true; mg_count = n; mg_from = word_counter(mg_grants));
		     mg_grants = 0)
	:: else ->
		ok = false;
		mg_grants = 0
	fi;
	if
	:: ok -> C_AFTER_G
	:: else -> move_grant(r, w)
	fi
}

inline release_for_owner(index, w)
{
	move_grant(index, w);
	if
	:: mg_mine ->
		STEP(fr_gen = gen[index]);
		STEP(CAS(what[index], w, what_released(w, fr_gen)); fr_gen = 0)
	:: else
	fi
}

/* The looks at C and T for a maximum are left out; the tag stays as it is. */
inline grant_anonymously(n)
{
	T_BEFORE_G
	do
	:: STEP(mg_grants = G);
		C_BEFORE_G
		STEP(CAS_OK(ok, G, mg_grants, word_make(counter_add(word_counter(mg_grants), n), word_tag(mg_grants)),
		            mg_moved = true; mg_count = n; mg_from = word_counter(mg_grants); anonymous = anonymous - n);
		     mg_grants = 0);
		if
		:: ok ->
			C_AFTER_G
			break
		:: else
		fi
	od
}
