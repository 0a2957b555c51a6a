/* SPDX-License-Identifier: MIT */
/*
 * lib/record.c and lib/hold.c: the records that a thread keeps, and the short cuts with them. Only where a configuration asks
 * for it: KEEPS_RECORDS.
 *
 * The entry of this process, which has one thread: `entry` is 0 or record + 1. The record stays there while it is in use,
 * and when its hold gets another owner, but not when it is used otherwise than alone. entry_T is -1 when it cannot be alone.
 */
#ifdef MUTANT_KEPT_IF_CLAIMED
#define is_kept (entry > 0 && what_state(what[entry - 1]) == CLAIMED)
#else
#define is_kept (entry > 0 && what[entry - 1] == entry_claimed)
#endif

inline forget_counters()
{
	entry_T = -1;
	entry_C = 0;
	entry_n = 0
}

inline keep_none()
{
	entry = 0;
	entry_claimed = 0;
	forget_counters()
}

inline forget_record()
{
	if
	:: entry == r + 1 -> keep_none()
	:: else
	fi
}

inline record_claim(n)
{
	if
	OR_DIE
	:: d_step { is_kept -> r = entry - 1; keep_none() };
		STEP(count[r] = n)
	:: !is_kept -> record_search();
		STEP(forget_record(); count[r] = n);
		record_fill()
	fi
}

/* T before E: then there was room at the moment of that T. */
inline note_counters()
{
	STEP(entry_T = T);
	STEP(mg_grants = G);
#ifdef SETTER
	STEP(entry_C = C);
#else
	entry_C = C;
#endif
	d_step {
		entry_n = count[r];
		if
		:: (entry_n > entry_C
		    || counter_diff(word_counter(mg_grants) + entry_C, word_counter(entry_T)) < entry_n
		    || word_tag(entry_T) != tag_make(r, !what_a(entry_claimed))) ->
			forget_counters()
		:: else
		fi;
		mg_grants = 0
	}
}

/* Somebody may wait for a record, and then none is kept: only where a configuration says so. */
#ifdef MAY_BE_WANTED
#define OR_IS_WANTED(freed) :: d_step { true -> forget_record() }; freed
#else
#define OR_IS_WANTED(freed)
#endif

inline record_keep_or_free()
{
	if
	OR_DIE
	OR_IS_WANTED(STEP(who[r] = 0))
	:: is_kept -> STEP(who[r] = 0)
	:: d_step { !is_kept -> keep_none(); entry = r + 1 };
		record_fill();
		entry_claimed = what[r];
		note_counters()
	fi
}

/* tsem_close() */
inline close_handle()
{
	if
	OR_DIE
	:: d_step { !is_kept -> skip }
	:: d_step { is_kept -> r = entry - 1 };
		record_unfill();
		STEP(CAS(who[r], who_owner(me), 0))
	fi;
	keep_none()
}

/* ---- acquire ---- */

#define alone_again(word, n) word_make(counter_add(word_counter(word), n), word_tag(word) ^ 1)

/*
 * The witness: at some moment since the call began there was room. Between the look at C and the CAS it may have been
 * lowered, which is the same as after the CAS: whoever lowers it arrives behind that, and reads G then.
 */
#ifdef SETTER
byte most_C[PROCESSES]; /* the largest C since then, + 1 */
#define begin_witness most_C[me] = C + 1
#define end_witness most_C[me] = 0
#define most_room (most_C[me] - 1)
#else
#define begin_witness skip
#define end_witness skip
#define most_room C
#endif

#ifdef MUTANT_ALONE_WITHOUT_C
#define is_C_the_same true
#else
#define is_C_the_same (C == entry_C)
#endif
#ifdef MUTANT_KEPT_COUNT_NOT_COMPARED
#define is_count_the_same(n) true
#else
#define is_count_the_same(n) (entry_n == n)
#endif

/* `ok`: it has the permits. */
#ifdef MUTANT_ALONE_ALTHOUGH_T_MOVED
#define look_at_T STEP(ar_tickets = T)
#define is_T_the_same (entry_T >= 0)
#define alone_T ar_tickets
#define alone_T_next word_make(counter_add(word_counter(ar_tickets), entry_n), word_tag(entry_T) ^ 1)
#else
#define look_at_T skip
#define is_T_the_same (T == entry_T)
#define alone_T entry_T
#define alone_T_next alone_again(entry_T, entry_n)
#endif

inline acquire_alone(n)
{
	ok = false;
	if
	OR_DIE
	:: d_step { !is_kept -> skip }
	:: d_step { is_kept -> r = entry - 1; begin_witness };
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
						T == alone_T ->
						ticket = word_counter(alone_T);
						entry_T = alone_T_next;
						T = entry_T;
						PROMISE(there_was_room, counter_diff(word_counter(G) + most_room, ticket) >= n);
						admit(ticket, n);
						ok = true
					};
					STEP(PROMISE(nobody_robbed, THE_RECORD_IS_OURS);
					     what[r] = what_next(entry_claimed, HELD, ticket);
					     is_holder[me] = true)
				:: d_step { T != alone_T -> skip }
				fi
			fi
		fi
	fi;
#ifdef MUTANT_ALONE_ALTHOUGH_T_MOVED
	ar_tickets = 0;
#endif
	end_witness
}

inline acquire(n, has_deadline)
{
	acquire_alone(n);
	if
	:: ok
	:: else -> acquire_in_line(n, has_deadline)
	fi
}

inline try_acquire(n)
{
	acquire_alone(n);
	if
	:: ok
	:: else -> acquire_or_fail(n)
	fi
}

/* ---- release ---- */

#ifdef MUTANT_GEN_NOT_WRITTEN
#define write_gen skip
#else
#define write_gen STEP(gen[r] = what_value(entry_claimed))
#endif

#define is_tag_ours (tag_record(word_tag(mg_grants)) == r)

/* Nobody has arrived since this entry's record did: so it is the hold that was acquired by it. */
#ifdef MUTANT_STALE_ENTRY
#define look_whose_arrival STEP(ok = (entry == r + 1 && entry_n > 0))
#else
#define look_whose_arrival STEP(ok = (entry == r + 1 && T == entry_T))
#endif

/*
 * Nobody has arrived since this hold did, before which all were admitted. If C has changed, it may have been lowered, and one of
 * those who had not noticed yet may wait again.
 */
#ifdef SETTER
#ifdef MUTANT_RELEASED_WITHOUT_C
#define is_C_still_the_same true
#else
#define is_C_still_the_same (C == entry_C)
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
#define look_at_concern \
	if \
	:: ok \
	:: else -> STEP(ok = ((hint & (12288 | 1)) != 0)) \
	fi;
#else
#define look_at_concern /* nothing can be in `hint` here */
#endif
#define is_somebody_concerned \
	STEP(ok = (T != entry_T)); \
	look_at_C \
	look_at_concern

/* From RELEASING on. `ok`: it is done; mg_moved: others take part. */
inline release_alone()
{
	ok = false;
	STEP(mg_grants = G);
	if
	OR_DIE
	:: d_step { !is_tag_ours -> skip }
	:: is_tag_ours ->
		if
		OR_DIE
		:: d_step {
				G == mg_grants ->
				mg_from = counter_add(word_counter(mg_grants), C_WITH_G);
				G = alone_again(mg_grants, entry_n);
				rel_what = 0;
				entry_claimed = what_next_turn(entry_claimed);
				ok = true
			}
		:: d_step { G != mg_grants -> skip }
		fi
	fi;
	mg_grants = 0;
	if
	:: ok ->
		if
		:: what_is_first_turn(entry_claimed) -> write_gen
		:: else
		fi;
		STEP(what[r] = entry_claimed);
		is_somebody_concerned
		if
		:: ok -> after_release()
		:: else -> mg_from = 0
		fi;
		ok = true
	:: else
	fi
}

inline after_release()
{
	mg_moved = true;
	mg_count = count[r];
#ifdef MAY_BE_WANTED
	if
	:: keep_none();
		record_unfill();
		STEP(who[r] = 0)
	:: true
	fi;
#endif
	C_AFTER_G
	after_grant()
}

/* Of the record in this entry, or release_any(). */
inline release(n)
{
	look_whose_arrival;
	begin_own_release(n);
	if
	:: ok -> release_alone()
	:: else
	fi;
	if
	:: ok -> ok = false
	:: else -> release_the_long_way()
	fi
}
