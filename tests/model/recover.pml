/* SPDX-License-Identifier: MIT */
/* lib/recovery/recover.c and lib/recovery/recover_front.c, which here share a loop. */

/* ---- the front of the queue: `places` has 5 bits for each record, 16 | ticket ---- */

#define place_of(i) ((places >> ((i) * 5)) & 31)

/* Sets front_index to the record of the first place; RECORDS: there is none. */
inline first_place(origin)
{
	d_step {
		front_index = RECORDS;
		i_ = 0;
		do
		:: i_ < RECORDS ->
			if
			:: place_of(i_) == 0
			:: else ->
				if
				:: front_index == RECORDS -> front_index = i_
				:: else ->
					if
					:: (counter_diff(place_of(i_) & 15, origin)
					    < counter_diff(place_of(front_index) & 15, origin)) ->
						front_index = i_
					:: else
					fi
				fi
			fi;
			i_++
		:: else -> break
		od;
		i_ = 0
	}
}

hidden byte i_;

/*
 * All ways to recovery share one loop with a single call of recover_record(), which keeps the model small. A way is a
 * sequence of stages. Each stage picks records for recover_record(), one after the other.
 *
 *     queue_leave()                      OWN, SKIP [, FRONT, RENEW]
 *     skip_orphans()                     SKIP [, FRONT, RENEW]
 *     recover_all()                      LAST, KINDS, FRONT, RENEW
 *     tsem_recover()                     LAST, KINDS, FRONT, RENEW, UNUSED
 */
#define OWN 1
#define SKIP 2
#define KINDS 3
#define FRONT 4  /* reads the orphan hint, and collects the places */
#define PLACES 5 /* the next place, if E has come that far */
#define PASSED 6 /* whether to go on after it */
#define RENEW 7  /* renew_orphan_hint() */
#define UNUSED 8
#define DONE 9
#define LAST 10  /* recover_last_arrival() */
#ifdef MUTANT_LAST_ARRIVAL_IGNORED
#define ALL KINDS
#else
#define ALL LAST
#endif

inline look_at_orphans()
{
#ifdef ORPHANS
	if
	OR_DIE
	:: d_step { !(pending & 1) -> stage = DONE }
	:: d_step { pending & 1 -> front_pending = pending };
		read_first_half
		STEP(stage = (ahead_of(pending_ticket(front_pending)) >= 0 -> FRONT : DONE);
		     front_pending = 0;
		     first_half = 0)
	fi
#else
	stage = DONE /* no process gives up: the hint stays empty */
#endif
}

/* Of all CLAIMED records only the last one to move T can have its ticket. */
inline pick_last_arrival()
{
	STEP(passing = tag_record(counter_tag(T)));
	stage = KINDS;
	if
	OR_DIE
	:: d_step {
			passing < RECORDS && state_kind(state[passing]) == STATE_CLAIMED ->
			front_index = passing;
			passing = 0
		};
		break
	:: d_step { passing >= RECORDS || state_kind(state[passing]) != STATE_CLAIMED -> passing = 0 }
	fi
}

/* recover_all() and recover_unused_records(): the next record for which the condition holds. */
#define pick_state(condition, next) \
	if \
	OR_DIE \
	:: d_step { re_i < RECORDS && owner[re_i] != 0 && (condition) -> front_index = re_i; re_i++ }; \
		break \
	:: d_step { re_i < RECORDS && !(owner[re_i] != 0 && (condition)) -> re_i++ } \
	:: d_step { re_i == RECORDS -> re_i = 0; stage = next } \
	fi

/* recover_front(): from here to renew_orphan_hint(). */
inline collect_places()
{
#ifdef ORPHANS
	STEP(front_pending = pending);
#endif
	do
	OR_DIE
	:: d_step {
			re_i < RECORDS ->
			if
			:: state_kind(state[re_i]) == STATE_QUEUED ->
				places = places | ((16 | state_value(state[re_i])) << (re_i * 5))
			:: else
			fi;
			re_i++
		}
	:: d_step { re_i == RECORDS -> re_i = 0; stage = PLACES };
		break
	od
}

inline pick_place()
{
	first_place(COUNTER_START);
	if
	:: front_index == RECORDS -> stage = RENEW
	:: else ->
		read_first_half
		if
		OR_DIE
		:: d_step {
				ahead_of(place_of(front_index) & 15) < 0 ->
				first_half = 0;
				places = 0;
				front_index = RECORDS;
				stage = RENEW
			}
		:: d_step {
				ahead_of(place_of(front_index) & 15) >= 0 ->
				first_half = 0;
				passing = front_index;
				stage = PASSED
			};
			break
		fi
	fi
}

/* After a place whose waiter lives, and that is not enabled, the loop does not go on. */
#define is_still_there \
	(state_kind(state[passing]) == STATE_QUEUED && state_value(state[passing]) == (place_of(passing) & 15))

inline pass_place()
{
	if
	OR_DIE
	:: d_step { !is_still_there -> go_on_after(PLACES) }
	:: d_step { is_still_there -> skip };
		STEP(mg_count = count[passing]);
		read_first_half
		if
		OR_DIE
		:: d_step { ahead_of(place_of(passing) & 15) < mg_count -> places = 0; go_on_after(RENEW) }
		:: d_step { ahead_of(place_of(passing) & 15) >= mg_count -> go_on_after(PLACES) }
		fi
	fi
}

inline go_on_after(next)
{
	places = places & ~(31 << (passing * 5));
	passing = 0;
	mg_count = 0;
	first_half = 0;
	stage = next
}

/*
 * Stores the lowest orphaned ticket in the hint, unless another process has noted one meanwhile. Recovers orphans and
 * declared waiters that are not QUEUED any more.
 */
#ifdef ORPHANS
#ifdef MUTANT_PENDING_WITHOUT_VERSION
#define renewed_pending pending = (front_state == 0 -> 0 : ((front_state & 15) << 8) | 1)
#else
#define renewed_pending \
	CAS(pending, front_pending, pending_next(front_pending, (front_state == 0 -> 0 : 1), front_state & 15))
#endif
#ifdef DECLARES /* without it, the skip of an orphan shows in the owner */
#define is_orphan(i) \
	(owner_is_orphan(owner[i]) || state_is_declared(state[i]) || state_kind(state[i]) == STATE_RELEASING)
#else
#define is_orphan(i) owner_is_orphan(owner[i])
#endif
#define renew_orphan_hint(next) \
	if \
	OR_DIE \
	:: d_step { re_i < RECORDS && (front_pending & 1) && !is_orphan(re_i) -> re_i++ } \
	:: re_i < RECORDS && (front_pending & 1) && is_orphan(re_i) -> \
		if \
		OR_DIE \
		:: d_step { state_kind(state[re_i]) != STATE_QUEUED -> front_index = re_i; re_i++ }; \
			break \
		:: d_step { \
				state_kind(state[re_i]) == STATE_QUEUED -> \
				front_state = lower_place(state_value(state[re_i])); \
				re_i++ \
			} \
		fi \
	:: d_step { \
			re_i == RECORDS || !(front_pending & 1) -> \
			if \
			:: front_pending & 1 -> renewed_pending \
			:: else \
			fi; \
			re_i = 0; \
			front_state = 0; \
			front_pending = 0; \
			stage = next \
		} \
	fi
#define lower_place(t) \
	(front_state == 0 || counter_diff(t, COUNTER_START) < counter_diff(front_state & 15, COUNTER_START) \
	 -> 16 | (t) : front_state)
#else
#define renew_orphan_hint(next) stage = next
#endif

inline recover_from(way, with_unused)
{
	stage = way;
	front_index = RECORDS;
	do
	:: stage == DONE -> break
	:: else ->
		do
		:: stage == DONE -> break
		:: stage == OWN ->
			front_index = r;
			stage = SKIP;
			break
		:: stage == SKIP -> look_at_orphans()
		:: stage == LAST -> pick_last_arrival()
		:: stage == KINDS ->
			pick_state(state_kind(state[re_i]) == STATE_HELD || state_kind(state[re_i]) == STATE_RELEASING,
			           FRONT)
		:: stage == FRONT -> collect_places()
		:: stage == PLACES -> pick_place()
		:: stage == PASSED -> pass_place()
		:: stage == RENEW -> renew_orphan_hint((with_unused -> UNUSED : DONE))
		:: stage == UNUSED -> pick_state(state_kind(state[re_i]) <= STATE_CLAIMED, DONE)
		od;
		if
		:: front_index == RECORDS
		:: else -> recover_record(front_index)
		fi
	od;
	stage = 0;
	front_index = 0
}

inline note_orphan(t)
{
	do
	:: STEP(front_pending = pending);
		if
		OR_DIE
		:: CAS_WORKS(pending, front_pending,
		             pending_next(front_pending, 1,
		                       ((front_pending & 1) && counter_diff(t, pending_ticket(front_pending)) >= 0
		                        -> pending_ticket(front_pending) : t)), front_pending = 0);
			break
		:: CAS_FAILS(pending, front_pending, front_pending = 0)
		fi
	od
}

#if defined(ORPHANS) && !defined(MUTANT_ORPHANS_NOT_SKIPPED)
#define grant_notify() wake_enabled(); recover_from(SKIP, false); notify_idle()
#else
#define grant_notify() wake_enabled(); notify_idle()
#endif
