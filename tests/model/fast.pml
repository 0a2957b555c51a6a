/* SPDX-License-Identifier: MIT */
/*
 * lib/fast.[ch]: cached records, and the fast path of acquire and release, in configurations that define
 * CACHES_RECORDS. The fast path of take is the first round of arrive_if_enabled(); that of post is in post.pml.
 *
 * Each process has one thread and so one cache entry. `entry` is 0 or record + 1. The record stays in its entry while a
 * hold of the fast path lasts, also if that gets another owner. entry_tickets is -1 if the next hold cannot use the
 * fast path.
 */
#ifdef MUTANT_CACHED_IF_CLAIMED
#define cache_is_ready (entry > 0 && state_kind(state[entry - 1]) == STATE_CLAIMED)
#else
#define cache_is_ready (entry > 0 && state[entry - 1] == entry_claimed)
#endif

inline forget_counters()
{
	entry_tickets = -1;
	entry_capacity = 0;
	entry_count = 0
}

inline cache_clear()
{
	entry = 0;
	entry_claimed = 0;
	forget_counters()
}

inline cache_forget()
{
	if
	:: entry == r + 1 -> cache_clear()
	:: else
	fi
}

/* T is read before E, so the room belongs to that T. */
inline store_counters()
{
	STEP(entry_tickets = T);
	STEP(mg_grants = G);
#ifdef SETTER
	STEP(entry_capacity = C);
#else
	entry_capacity = C;
#endif
	d_step {
		entry_count = count[r];
		if
		:: (entry_count > entry_capacity
		    || counter_diff(counter_value(mg_grants) + entry_capacity, counter_value(entry_tickets))
		       < entry_count
		    || counter_tag(entry_tickets) != tag_make(r, !state_arrival_phase(entry_claimed))) ->
			forget_counters()
		:: else
		fi;
		mg_grants = 0
	}
}

/* ---- acquire ---- */

#define fast_next(word, n) counter_word_make(counter_add(counter_value(word), n), counter_tag(word) ^ 1)

/*
 * The witness checks that there was room at some moment since the call began. C may fall between the look at C and the
 * CAS, which is the same as after the CAS: the setter arrives after it, and then reads G.
 */
#ifdef SETTER
byte most_C[PROCESSES]; /* the largest C since the call began, + 1; 0: no call */
#define begin_witness most_C[me] = C + 1
#define end_witness most_C[me] = 0
#define most_room (most_C[me] - 1)
#else
#define begin_witness skip
#define end_witness skip
#define most_room C
#endif

#ifdef MUTANT_FAST_ACQUIRE_WITHOUT_C
#define is_C_the_same true
#else
#define is_C_the_same (C == entry_capacity)
#endif
#ifdef MUTANT_CACHED_COUNT_NOT_COMPARED
#define is_count_the_same(n) true
#else
#define is_count_the_same(n) (entry_count == n)
#endif

/* `ok`: the process has the permits. */
#ifdef MUTANT_FAST_ALTHOUGH_T_MOVED
#define look_at_T STEP(ar_tickets = T)
#define is_T_the_same (entry_tickets >= 0)
#define fast_T ar_tickets
#define fast_T_next \
	counter_word_make(counter_add(counter_value(ar_tickets), entry_count), counter_tag(entry_tickets) ^ 1)
#else
#define look_at_T skip
#define is_T_the_same (T == entry_tickets)
#define fast_T entry_tickets
#define fast_T_next fast_next(entry_tickets, entry_count)
#endif

inline fast_acquire(n)
{
	ok = false;
	if
	OR_DIE
	:: d_step { !cache_is_ready -> skip }
	:: d_step { cache_is_ready -> r = entry - 1; begin_witness };
		look_at_T;
		if
		OR_DIE
		:: d_step { !is_T_the_same -> skip }
		:: is_T_the_same ->
			if
#ifdef SETTER
			OR_DIE
			:: d_step { !is_C_the_same || !is_count_the_same(n) -> skip }
			:: is_C_the_same && is_count_the_same(n) ->
#else
			:: !is_count_the_same(n)
			:: is_count_the_same(n) ->
#endif
				if
				OR_DIE
				:: d_step {
						T == fast_T ->
						ticket = counter_value(fast_T);
						entry_tickets = fast_T_next;
						T = entry_tickets;
						PROMISE(there_was_room,
						        counter_diff(counter_value(G) + most_room, ticket) >= n);
						note_admission(ticket, n);
						ok = true
					};
					STEP(PROMISE(living_not_robbed, RECORD_IS_OURS);
					     state[r] = state_next(entry_claimed, STATE_HELD, ticket);
					     is_holder[me] = true)
				:: d_step { T != fast_T -> skip }
				fi
			fi
		fi
	fi;
#ifdef MUTANT_FAST_ALTHOUGH_T_MOVED
	ar_tickets = 0;
#endif
	end_witness
}

/* ---- release ---- */

#ifdef MUTANT_GEN_NOT_WRITTEN
#define write_gen skip
#else
#define write_gen STEP(gen[r] = state_value(entry_claimed))
#endif

#ifdef MUTANT_TAG_WITHOUT_PHASE
#define is_own_tag (tag_record(counter_tag(mg_grants)) == r)
#else
#define is_own_tag (counter_tag(mg_grants) == (tag_make(r, state_release_phase(entry_claimed)) ^ 1))
#endif

/* No process has arrived since the entry's record did, so the hold is the one that the entry acquired. */
#ifdef MUTANT_STALE_ENTRY
#define fast_release_entry STEP(ok = (entry == r + 1 && entry_count > 0))
#else
#define fast_release_entry STEP(ok = (entry == r + 1 && T == entry_tickets))
#endif

/*
 * No process has arrived since this hold did, before which all were enabled. If C has changed, it may have been
 * lowered, and a waiter that had not noticed may wait again.
 */
#ifdef SETTER
#ifdef MUTANT_FAST_RELEASE_WITHOUT_C
#define is_C_still_the_same true
#else
#define is_C_still_the_same (C == entry_capacity)
#endif
#define look_at_C \
	if \
	:: ok \
	:: else -> STEP(ok = !is_C_still_the_same) \
	fi;
#else
#define look_at_C
#endif
#if defined(ORPHANS) || defined(IDLERS)
#define look_at_pending \
	if \
	:: ok \
	:: else -> STEP(ok = ((pending & (12288 | 1)) != 0)) \
	fi;
#else
#define look_at_pending /* `pending` stays empty */
#endif
#define look_for_others \
	STEP(ok = (T != entry_tickets)); \
	look_at_C \
	look_at_pending

/* From RELEASING on. `ok`: not FAST_NOT_MOVED, and the release is over. */
inline fast_release()
{
	ok = false;
	STEP(mg_grants = G);
	if
	OR_DIE
	:: d_step { !is_own_tag -> skip }
	:: is_own_tag ->
		if
		OR_DIE
		:: d_step {
				G == mg_grants ->
				mg_from = counter_add(counter_value(mg_grants), C_WITH_G);
				G = fast_next(mg_grants, entry_count);
				rel_state = 0;
				entry_claimed = state_reused(entry_claimed);
				ok = true
			}
		:: d_step { G != mg_grants -> skip }
		fi
	fi;
	mg_grants = 0;
	if
	:: ok ->
		if
		:: state_is_first_use(entry_claimed) -> write_gen
		:: else
		fi;
		STEP(state[r] = entry_claimed);
		look_for_others
		if
		:: ok -> release_notify()
		:: else -> mg_from = 0
		fi;
		ok = true
	:: else
	fi
}
