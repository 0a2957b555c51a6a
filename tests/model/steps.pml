/* SPDX-License-Identifier: MIT */
/*
 * Each access to shared memory is a step, and a process may die before each step. Between two accesses a process
 * changes only its own memory, so no other process can tell where between them it died.
 */
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef MORTAL
#define MORTAL 15 /* bit mask of processes that may die */
#endif

byte crashes_left = CRASHES;
bool recent_death; /* since the last tick */
bool over;          /* the last checks are done: processes that rightly sleep end */

#if CRASHES > 0
#define OR_DIE :: atomic { crashes_left > 0 && ((MORTAL >> me) & 1) -> crashes_left--; goto dies }
#else
#define OR_DIE
#endif

#define STEP(access) if OR_DIE :: d_step { access } fi
#define STEP_WHEN(condition, access) if OR_DIE :: d_step { (condition) -> access } fi

/*
 * If the access decides what comes next, the decision belongs to the step. This saves a state.
 *
 *     if OR_DIE
 *     :: d_step { condition on shared memory -> ... }; ...
 *     :: d_step { !condition -> ... }; ...
 *     fi
 */
#define CAS(place, old, new) if :: (place) == (old) -> place = new :: else fi /* inside a step */
#define CAS_WORKS(place, old, new, also) d_step { (place) == (old) -> place = new; also }
#define CAS_FAILS(place, old, also) d_step { (place) != (old) -> also }

#ifdef SETTER
#define SETTER_LOCALS ; byte set_grants; byte set_seen; bool claimed
#define FORGET_SETTER_LOCALS ; set_grants = 0; set_seen = 0; claimed = 0
#else
#define SETTER_LOCALS
#define FORGET_SETTER_LOCALS
#endif

#ifdef CACHES_RECORDS
#define CACHE_LOCALS ; byte entry; short entry_claimed; short entry_tickets = -1; byte entry_capacity; byte entry_count
#define FORGET_CACHE_LOCALS ; cache_clear()
#else
#define CACHE_LOCALS
#define FORGET_CACHE_LOCALS
#endif

#ifdef IDLERS
#define NOTIFY_LOCALS ; byte in_bits; byte in_grants
#define FORGET_NOTIFY_LOCALS ; in_bits = 0; in_grants = 0
#define notify_idle() notify_idle()
#else
#define NOTIFY_LOCALS
#define FORGET_NOTIFY_LOCALS
#define PENDING_BEFORE_G
#define notify_idle() skip
#endif

#ifdef BOUNDED
#define BOUND_LOCALS ; short an_tickets; short an_count; short an_state; byte an_i; bool an_has; byte an_permits; bool an_refused
#define FORGET_BOUND_LOCALS \
	; an_tickets = 0; an_count = 0; an_state = 0; an_i = 0; an_has = 0; an_permits = 0; an_refused = 0
#else
#define BOUND_LOCALS
#define FORGET_BOUND_LOCALS
#endif

#ifdef MAX_WAITING
#define LIMIT_LOCALS ; byte lm_limit; byte lm_i; byte lm_n; bool lm_was_full
#define FORGET_LIMIT_LOCALS ; lm_limit = 0; lm_i = 0; lm_n = 0; lm_was_full = false
#else
#define LIMIT_LOCALS
#define FORGET_LIMIT_LOCALS
#endif

/*
 * What a process remembers between steps, by the function that uses it. All is cleared when it is no longer needed and
 * when the process dies, so that states do not differ by dead values. front_state is a record's state, or in the
 * renewal of the orphan hint 16 | the lowest ticket.
 */
#define LOCALS \
	byte r; short ticket; bool ok; \
	short ar_tickets; \
	short fa_state; byte fa_count; \
	short rel_state; \
	short mg_grants; byte mg_count; byte mg_from; byte mg_tickets; bool mg_moved; bool mg_mine; \
	short fr_state; byte fr_gen; \
	byte wk_i; byte wk_bits; short wk_waiting; short wk_seen; \
	short rc_owner; short rc_state; short rc_tickets; bool rc_dead; \
	byte re_i; byte stage; byte front_index; short front_pending; short front_state; byte passing; int places; \
	short po_grants; byte po_tickets; byte po_capacity; short po_pending; byte po_sleepers; \
	byte first_half; short seen; bool polls SETTER_LOCALS CACHE_LOCALS NOTIFY_LOCALS BOUND_LOCALS LIMIT_LOCALS

#define FORGET \
	r = 0; ticket = 0; ok = 0; ar_tickets = 0; fa_state = 0; fa_count = 0; rel_state = 0; \
	mg_grants = 0; mg_count = 0; mg_from = 0; mg_tickets = 0; mg_moved = 0; mg_mine = 0; fr_state = 0; fr_gen = 0; \
	wk_i = 0; wk_bits = 0; wk_waiting = 0; wk_seen = 0; rc_owner = 0; rc_state = 0; rc_tickets = 0; rc_dead = 0; \
	re_i = 0; stage = 0; front_index = 0; front_pending = 0; front_state = 0; passing = 0; places = 0; \
	po_grants = 0; po_tickets = 0; po_capacity = 0; po_pending = 0; po_sleepers = 0; \
	first_half = 0; seen = 0; polls = 0 FORGET_SETTER_LOCALS FORGET_CACHE_LOCALS FORGET_NOTIFY_LOCALS \
	FORGET_BOUND_LOCALS FORGET_LIMIT_LOCALS

inline die()
{
	dead[me] = true;
	in_use[me] = 0;
	waits_for[me] = 0;
	entitled[me] = false;
	asleep[me] = 0;
	recent_death = true;
}
