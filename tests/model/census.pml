/* SPDX-License-Identifier: MIT */
/* census_is_idle() of lib/protocol/census.c */

/* ---- the witness ---- */

hidden short owned_permits;
hidden short taken_permits;
hidden byte waiting_permits;

/* No process holds, and none waits unless `kind` is holders only. More may have been posted than was taken. */
#define IS_IDLE(kind) (owned_permits == 0 && taken_permits <= 0 && ((kind) == PENDING_HOLDERS || waiting_permits == 0))

inline reckon_idle()
{
	owned_permits = 0;
	taken_permits = anonymous;
	waiting_permits = 0;
	p_ = 0;
	do
	:: p_ < PROCESSES ->
		if
		:: is_taker(p_) -> taken_permits = taken_permits + in_use[p_]
		:: else -> owned_permits = owned_permits + in_use[p_]
		fi;
		waiting_permits = waiting_permits + waits_for[p_];
		p_++
	:: else -> break
	od;
	p_ = 0
}

#define IDLER_LOCALS \
	short cs_grants; short cs_tickets; short cs_owner; short cs_state; byte cs_count; byte cs_i; short cs_out; \
	byte cs_seen; 	bool cs_idle

#define FORGET_IDLER \
	cs_grants = 0; cs_tickets = 0; cs_owner = 0; cs_state = 0; cs_count = 0; cs_i = 0; cs_out = 0; \
	cs_seen = 0; cs_idle = false

/*
 * How far E is ahead of the ticket, at the instant of the counters. A CLAIMED record that T names has its ticket in T.
 */
#define cs_ahead(t) counter_diff(counter_add(counter_value(cs_grants), C), t)
#define cs_is_claimed \
	(state_kind(cs_state) == STATE_CLAIMED \
	 && counter_tag(cs_tickets) == tag_make(cs_i, state_arrival_phase(cs_state)))
#define cs_is_queued (state_kind(cs_state) == STATE_QUEUED || cs_is_claimed)
#define cs_ticket (cs_is_claimed -> counter_add(counter_value(cs_tickets), 16 - cs_count) : state_value(cs_state))
#define cs_is_waiting (cs_is_queued && cs_ahead(cs_ticket) < cs_count)
#define cs_is_released (counter_tag(cs_grants) == tag_make(cs_i, state_release_phase(cs_state)))
#define cs_is_inside \
	((cs_is_queued && !cs_is_waiting && !is_taker(owner_pid(cs_owner))) \
	 || (state_kind(cs_state) == STATE_HELD && !is_taker(owner_pid(cs_owner))) \
	 || (state_kind(cs_state) == STATE_RELEASING && !cs_is_released))

/* role_of(). An orphan that is enabled or being skipped has no role, and its permits are still out. */
#define cs_is_holder (cs_owner != 0 && !owner_is_orphan(cs_owner) && cs_is_inside)
#define cs_is_waiter (cs_owner != 0 && !owner_is_orphan(cs_owner) && cs_is_waiting)
#define cs_is_left (cs_owner != 0 && owner_is_orphan(cs_owner) && cs_is_waiting)

#define FORGET_LOOK cs_grants = 0; cs_tickets = 0; cs_out = 0; cs_i = 0
#define FORGET_COPY cs_owner = 0; cs_state = 0; cs_count = 0

/* Copies the record until it has not changed meanwhile. */
inline copy_record()
{
	do
	:: STEP(cs_owner = owner[cs_i]);
		STEP(cs_state = state[cs_i]);
		STEP(cs_count = count[cs_i]);
		if
		OR_DIE
		:: d_step { state[cs_i] != cs_state -> FORGET_COPY }
		:: state[cs_i] == cs_state ->
			if
			OR_DIE
			:: d_step { owner[cs_i] != cs_owner -> FORGET_COPY }
			:: d_step { owner[cs_i] == cs_owner -> skip };
				break
			fi
		fi
	od
}

inline read_counters()
{
	do
	:: STEP(cs_grants = G);
		STEP(cs_tickets = T);
		if
		OR_DIE
		:: d_step { G != cs_grants -> cs_grants = 0; cs_tickets = 0 }
		:: d_step {
				G == cs_grants ->
				cs_out = counter_diff(counter_value(cs_tickets), counter_value(cs_grants))
			};
			break
		fi
	od
}

#ifdef MUTANT_T_NOT_COMPARED_AFTER_SCAN
#define T_IS_UNCHANGED true
#else
#define T_IS_UNCHANGED (T == cs_tickets)
#endif
#ifdef MUTANT_G_NOT_COMPARED_AFTER_SCAN
#define G_IS_UNCHANGED true
#else
#define G_IS_UNCHANGED (G == cs_grants)
#endif
#ifdef MUTANT_LOOK_NOT_REPEATED
#define LOOK_AGAIN cs_idle = false; break
#else
#define LOOK_AGAIN skip
#endif

/* cs_idle: idle. The look is repeated while T or G moves, without the limit that the code has. */
inline census_is_idle(kind)
{
	do
	:: read_counters();
		cs_i = 0;
		cs_idle = true;
		do
		:: cs_idle && cs_i < RECORDS ->
			copy_record();
			atomic {
				cs_idle = !(cs_is_holder || (cs_is_waiter && (kind) == PENDING_IDLE));
				cs_out = cs_out - (cs_is_waiter || cs_is_left -> cs_count : 0);
				FORGET_COPY;
				cs_i++
			}
		:: else -> break
		od;
		cs_i = 0;
		if
		:: !cs_idle || cs_out > 0 -> cs_idle = false; break
		:: else ->
			if
			OR_DIE
			:: d_step { !T_IS_UNCHANGED -> FORGET_LOOK };
				LOOK_AGAIN
			:: d_step { T_IS_UNCHANGED -> reckon_idle(); cs_idle = IS_IDLE(kind) };
				if
				OR_DIE
				:: d_step { !G_IS_UNCHANGED -> FORGET_LOOK };
					LOOK_AGAIN
				:: d_step { G_IS_UNCHANGED -> PROMISE(idle_is_true, cs_idle) };
					break
				fi
			fi
		fi
	od;
	FORGET_LOOK
}
