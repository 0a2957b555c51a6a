/* SPDX-License-Identifier: MIT */
/* lib/transfer.c: a hold changes its owner. Only where a configuration asks for it. */

/* change_owner() to process q. From the swap on the permits are q's, if it lives. */
inline hand_over(n, q)
{
	STEP(PROMISE(nobody_robbed, THE_HOLD_IS_OURS);
	     in_use[me] = in_use[me] - n;
	     is_holder[me] = false;
	     who[r] = who_handed(q, ticket);
	     if
	     :: dead[q]
	     :: else -> in_use[q] = in_use[q] + n
	     fi)
}

/* find_handed() to q: the newest HELD one. rc_who, rc_what and front_index say which; RECORDS: none. */
inline find_handed(q)
{
	front_index = RECORDS;
	re_i = 0;
	do
	:: re_i < RECORDS ->
		STEP(rc_tickets = who[re_i]);
		if
		:: who_is_handed(rc_tickets) && who_process(rc_tickets) == q ->
			STEP(front_what = what[re_i]);
			if
			:: (what_state(front_what) == HELD
			    && (front_index == RECORDS || counter_diff(what_value(front_what), what_value(rc_what)) >= 0)) ->
				front_index = re_i;
				rc_who = rc_tickets;
				rc_what = front_what
			:: else
			fi
		:: else
		fi;
		re_i++
	:: else -> break
	od;
	re_i = 0;
	rc_tickets = 0;
	front_what = 0
}

#ifdef MUTANT_FOREIGN_RELEASE_BY_STORE
#define is_still_held true
#else
#define is_still_held (what[front_index] == rc_what)
#endif

/* HELD -> RELEASING by whoever is first; `ok`: it was us. */
inline release_foreign(n, q)
{
	if
	OR_DIE
	:: d_step {
			is_still_held ->
			if
			:: dead[q]
			:: else -> in_use[q] = in_use[q] - n
			fi;
			ok = true;
			rel_what = what_next(rc_what, RELEASING, what_value(rc_what));
			what[front_index] = rel_what
		};
		finish_foreign(front_index, rc_who)
	:: d_step { !is_still_held -> ok = false }
	fi
}

/* From RELEASING, rel_what, to the end. */
inline finish_foreign(index, owner)
{
	release_for_owner(index, rel_what);
	STEP(CAS(who[index], owner, 0));
	after_grant();
	rel_what = 0
}

inline release_for(n, q)
{
	do
	:: find_handed(q);
		if
		:: front_index == RECORDS -> break
		:: else
		fi;
		release_foreign(n, q);
		if
		:: ok -> break
		:: else
		fi
	od;
	front_index = 0;
	rc_who = 0;
	rc_what = 0
}

/* tsem_release() of a hold that was lent to process q: tsem_lend() is as tsem_hand_over(). */
inline end_loan(n, q)
{
	STEP(rc_what = what[r]);
	if
	:: what_state(rc_what) == HELD && what_value(rc_what) == ticket ->
		front_index = r;
		rc_who = who_handed(q, ticket);
		release_foreign(n, q)
	:: else
	fi;
	rc_what = 0;
	rc_who = 0;
	front_index = 0;
	ok = false
}

/* What a parent tells the child it forks. */
bool forked;
byte forked_record;
short forked_ticket;

/*
 * tsem_adopt() by a child of process `parent`: `ok` if the hold is its own now, and its command may run. What a recoverer
 * began for the dead parent, and leaves because the owner has changed, is finished.
 */
inline adopt(n, parent)
{
	STEP(rel_what = what[r]);
	ok = false;
	if
	:: what_state(rel_what) == HELD && what_value(rel_what) == ticket ->
		if
		OR_DIE
		:: CAS_WORKS(who[r], who_owner(parent), who_owner(me),
		             if
		             :: dead[parent]
		             :: else -> in_use[parent] = in_use[parent] - n
		             fi);
#ifdef MUTANT_ADOPT_WITHOUT_TURN
			STEP(admit(ticket, n); ok = true)
#else
			if
			OR_DIE
			:: CAS_WORKS(what[r], rel_what, rel_what ^ WHAT_TURN, admit(ticket, n); ok = true)
			:: CAS_FAILS(what[r], rel_what, rel_what = what_next(rel_what, RELEASING, ticket));
				if
				OR_DIE
#ifdef MUTANT_ADOPT_LEAVES_IT
				:: d_step { true -> skip }
#else
				:: what[r] == rel_what -> finish_foreign(r, who_owner(me))
				:: d_step { what[r] != rel_what -> skip };
					STEP(CAS(who[r], who_owner(me), 0))
#endif
				fi
			fi
#endif
		:: CAS_FAILS(who[r], who_owner(parent), skip)
		fi
	:: else
	fi;
	rel_what = 0
}

/* tsem_reap() by a parent whose child has ended. */
inline reap(n, child)
{
	STEP(ok = (who[r] == who_owner(me)));
	if
	:: ok -> release(n)
	:: else ->
		STEP(rc_who = who[r]);
		if
		:: rc_who != 0 ->
			STEP(rc_dead = (who_is_orphan(rc_who) || dead[who_process(rc_who)]));
			STEP(rc_what = what[r]);
			if
			:: what_state(rc_what) == HELD && what_value(rc_what) == ticket && rc_dead ->
				STEP(ok = (who[r] == rc_who));
				if
				:: ok ->
					front_index = r;
					release_foreign(n, child)
				:: else
				fi
			:: else
			fi
		:: else
		fi;
		rc_who = 0;
		rc_what = 0;
		front_index = 0
	fi
}
