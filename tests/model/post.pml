/* SPDX-License-Identifier: MIT */
/* lib/calls/post.c, and the part of lib/protocol/protocol.c about the tag of G. */

#define po_tag counter_tag(po_grants)

/* The first step of retag_grants(), for G as it was read into po_grants. */
inline finish_last_release()
{
	if
	:: is_replaceable(po_tag, TAG_NONE)
	:: else -> finish_release(po_grants)
	fi
}

#if defined(MUTANT_SLEEPS_UNWATCHED) || defined(WITHOUT_POSTS)
#define watch_grants() skip
#else
inline watch_grants()
{
	do
	:: if
	   OR_DIE
	   :: d_step { is_watched(counter_tag(G)) -> skip };
		   break
	   :: d_step { !is_watched(counter_tag(G)) -> po_grants = G };
		   finish_last_release();
		   if
		   OR_DIE
		   :: CAS_WORKS(G, po_grants, counter_word_retag(po_grants, TAG_WATCHED_FIRST), po_grants = 0);
			   break
		   :: CAS_FAILS(G, po_grants, po_grants = 0)
		   fi
	   fi
	od
}
#endif

#ifdef MUTANT_TWO_WATCHED_VALUES
#define next_watched(tag) ((tag) == TAG_WATCHED_FIRST -> TAG_WATCHED_LAST : TAG_WATCHED_FIRST)
#else
#define next_watched(tag) (is_watched(tag) && (tag) != TAG_WATCHED_LAST -> (tag) + 1 : TAG_WATCHED_FIRST)
#endif

#ifdef MUTANT_BUMPS_ONCE
#define IF_BUMPED_ONCE break
#else
#define IF_BUMPED_ONCE skip
#endif

#ifdef WITHOUT_POSTS /* no process posts, or only ARRAY_WORDS or more at once, so no process reads these tags */
#define bump_grants() skip
#else
inline bump_grants()
{
	do
	:: STEP(po_grants = G);
		finish_last_release();
		if
		OR_DIE
		:: CAS_WORKS(G, po_grants, counter_word_retag(po_grants, next_watched(po_tag)), po_grants = 0);
			break
		:: CAS_FAILS(G, po_grants, po_grants = 0);
			IF_BUMPED_ONCE
		fi
	od
}
#endif

#ifdef MUTANT_ORPHAN_DOES_NOT_BUMP
#define bump_after_note() skip
#else
#define bump_after_note() bump_grants()
#endif

#ifdef SETTER
#define READ_C STEP(po_capacity = C);
#define C_OF_POST po_capacity
#ifdef MUTANT_SETTER_DOES_NOT_BUMP
#define bump_after_set() skip
#else
#define bump_after_set() bump_grants()
#endif
#else
#define READ_C
#define C_OF_POST C
#endif

/*
 * Two conditions on `pending` as it was read before the move: has_to_look_afterwards(), and whether G may be made NONE.
 */
#if defined(IDLERS) || defined(ORPHANS)
#define READ_PENDING_BEFORE STEP(po_pending = pending);
#else
#define READ_PENDING_BEFORE
#endif
#define has_to_look_afterwards(n) \
	((n) >= ARRAY_WORDS || (po_pending >> 12) != 0 \
	 || ((po_pending & 1) && counter_diff(counter_add(po_limit, n), pending_ticket(po_pending)) > 0))
#ifdef ORPHANS
#define is_orphan_next ((po_pending & 1) && counter_diff(po_limit, pending_ticket(po_pending)) >= 0)
#else
#define is_orphan_next false
#endif
/* No look at orphans: one in front of this T is next, and one behind it makes the second look at T find another T. */
#define may_be_quiet (po_room >= 0)

#define po_limit counter_add(counter_value(po_grants), C_OF_POST)
#define po_room counter_diff(po_limit, po_tickets)
#define FORGET_VIEW po_grants = 0; po_tickets = 0; po_capacity = 0; po_pending = 0

#ifdef MUTANT_TAG_OF_RELEASE_SAYS_QUIET
#define says_quiet(tag) (!is_watched(tag))
#else
#define says_quiet(tag) ((tag) == TAG_NONE)
#endif

/* post_grants(). At this step the post has happened. */
#ifdef BOUNDED
#define READ_T_OF_POST STEP(an_tickets = T; po_tickets = counter_value(T))
#define NOTE_POSTED(n) note_posted(n);
#else
#define READ_T_OF_POST STEP(po_tickets = counter_value(T))
#define NOTE_POSTED(n)
#endif
#define MOVES(n, also) \
	CAS_WORKS(G, po_grants, counter_word_make(counter_add(counter_value(po_grants), n), po_tag), \
	          NOTE_POSTED(n) anonymous = anonymous - n; also)

/* The second look wakes the waiters between E as it was and E as it is. */
inline make_quiet()
{
	finish_last_release();
	if
	OR_DIE
	:: CAS_WORKS(G, po_grants, counter_word_retag(po_grants, TAG_NONE), skip);
#ifndef MUTANT_QUIET_WITHOUT_SECOND_LOOK
		if
		OR_DIE
		:: d_step { counter_value(T) == po_tickets -> skip }
		:: d_step { counter_value(T) != po_tickets -> mg_from = po_limit; FORGET_VIEW };
			watch_grants();
			read_first_half
			STEP(mg_count = ahead_of(mg_from); mg_moved = true; first_half = 0);
			wake_enabled()
		fi
#endif
	:: CAS_FAILS(G, po_grants, skip)
	fi;
	FORGET_VIEW
}

/* po_sleepers has one bit for each ticket. */
inline announce_post(n)
{
	wk_i = 0;
	do
	:: wk_i < n ->
		STEP(po_sleepers = po_sleepers
		                   | ((array[word_index(po_limit + wk_i)] & WORD_SLEEPER_BITS) -> 1 << wk_i : 0);
		     array[word_index(po_limit + wk_i)] =
			     word_posted(array[word_index(po_limit + wk_i)], counter_add(po_limit, wk_i)));
		wk_i++
	:: else -> break
	od;
	wk_i = 0
}

/* The end of move_and_wake(), which wakes by address alone. */
inline wake_announced(n)
{
	do
	:: wk_i < n ->
		if
		:: (po_sleepers >> wk_i) & 1 ->
			STEP(futex_wake(word_index(po_limit + wk_i), word_bit(counter_add(po_limit, wk_i))))
		:: else
		fi;
		wk_i++
	:: else -> break
	od;
	wk_i = 0
}

/*
 * The first branch is fast_post() in lib/protocol/fast.h, whatever it reads of T and C: the tag NONE is enough. A bounded post does
 * not take it.
 */
inline post(n)
{
#ifdef BOUNDED
	STEP(note_post_begins());
#endif
	do
#ifndef BOUNDED
	:: d_step { says_quiet(counter_tag(G)) -> po_grants = G };
		if
		OR_DIE
		:: MOVES(n, FORGET_VIEW);
			break
		:: CAS_FAILS(G, po_grants, FORGET_VIEW)
		fi
#endif
	:: STEP(po_grants = G);
		READ_C
		READ_T_OF_POST;
		READ_PENDING_BEFORE
#ifdef BOUNDED
		check_limits(n);
		if
		:: an_refused ->
			d_step { note_refused(n); an_refused = false; FORGET_VIEW };
			break
		:: else ->
#endif
		if
#ifdef ORPHANS
		:: is_orphan_next ->
			atomic { FORGET_VIEW };
			recover_from(SKIP, false)
#endif
		:: !is_orphan_next && has_to_look_afterwards(n) ->
			if
			OR_DIE
			:: MOVES(n, mg_moved = true; mg_count = n; mg_from = counter_value(po_grants); FORGET_VIEW);
				STEP(mg_from = counter_add(mg_from, C));
				grant_notify();
				break
			:: CAS_FAILS(G, po_grants, FORGET_VIEW)
			fi
		:: !is_orphan_next && !has_to_look_afterwards(n) && says_quiet(po_tag) ->
			if
			OR_DIE
			:: MOVES(n, FORGET_VIEW);
				break
			:: CAS_FAILS(G, po_grants, FORGET_VIEW)
			fi
		:: !is_orphan_next && !has_to_look_afterwards(n) && !says_quiet(po_tag) && may_be_quiet ->
			make_quiet()
		:: (!is_orphan_next && !has_to_look_afterwards(n) && !says_quiet(po_tag) && !may_be_quiet
		    && !is_watched(po_tag)) ->
			atomic { FORGET_VIEW };
			watch_grants()
		:: !is_orphan_next && !has_to_look_afterwards(n) && is_watched(po_tag) && !may_be_quiet ->
			announce_post(n);
			if
			OR_DIE
			:: MOVES(n, skip);
				wake_announced(n);
				po_sleepers = 0;
				FORGET_VIEW;
				break
			:: CAS_FAILS(G, po_grants, po_sleepers = 0; FORGET_VIEW)
			fi
		fi
#ifdef BOUNDED
		fi
#endif
	od
}
