/* SPDX-License-Identifier: MIT */
/*
 * The protocol on etcd: a model by itself. A file here models files of cli/etcd/, and its first comment says which. A
 * configuration (../configs/etcd-...) defines the clients, what each one wants, the capacity at first, and how often what
 * may happen at any moment does happen:
 *
 *   LOSSES   an answer is lost, or the request is: then it arrives later, or never
 *   REPEATS  a request arrives once more, later
 *   EXPIRIES a lease ends although its client lives
 *   DEATHS   a client ends, and its lease later
 *   QUITS    a waiter gives up
 */
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef REPEATS
#define REPEATS 0
#endif
#ifndef EXPIRIES
#define EXPIRIES 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef QUITS
#define QUITS 0
#endif
#ifndef ANY
#define ANY(c) false
#endif
#ifndef WANTS
#define WANTS(c, n) true
#endif
#ifndef NAMES
#define NAMES 1
#elif NAMES == 2
#define SEVERAL
#endif

byte late_client;

#include "store.pml"
#include "claim.pml"

byte losses = LOSSES;
byte repeats = REPEATS;
byte expiries = EXPIRIES;
byte deaths = DEATHS;
byte quits = QUITS;
byte ended; /* clients */
bool dead[CLIENTS];
bool cancelled[CLIENTS];

mtype = { GRANT, QUEUE, LEAVE, HAND_OVER, RELEASE, TAKE };

/* A request that arrives later. */
byte late;

inline send_late(what, c)
{
	late = what;
	late_client = c;
	copy_view(c, LATE)
}

/* The client sends a request, and gets its answer or not. */
#define SEND(what, transaction, c) \
	if \
	:: d_step { transaction(c, c); answered = true; ok = ok_ } \
	:: d_step { losses > 0 -> losses--; transaction(c, c); answered = false; ok = false } \
	:: d_step { losses > 0 && late == 0 -> losses--; send_late(what, c); answered = false; ok = false } \
	:: d_step { repeats > 0 && late == 0 -> repeats--; send_late(what, c); transaction(c, c); answered = true; ok = ok_ } \
	fi

proctype network()
{
end:
	do
	:: d_step { late == GRANT -> late = 0; grant(LATE, late_client); forget(LATE); skip }
	:: d_step { late == QUEUE -> late = 0; queue(LATE, late_client); forget(LATE); skip }
	:: d_step { late == LEAVE -> late = 0; leave(LATE, late_client); forget(LATE); skip }
	:: d_step { late == HAND_OVER -> late = 0; hand_over(LATE, late_client); forget(LATE); skip }
	:: d_step { late == RELEASE -> late = 0; release(LATE, late_client); forget(LATE); skip }
#ifdef TAKES
	:: d_step { late == TAKE -> late = 0; take(LATE, late_client); forget(LATE); skip }
#endif
	:: d_step { late != 0 -> late = 0; forget(LATE); skip }
	od
}

/* The lease of a dead client ends, and that of a live one may. */
proctype expiry(byte c)
{
end:
	do
	:: d_step { lease_lives[c] && dead[c] -> end_lease(c); skip }
	:: d_step { lease_lives[c] && !dead[c] && expiries > 0 -> expiries--; end_lease(c); skip }
	od
}

/* ---- watching ---- */

#ifdef MUTANT_CAPACITY_NOT_WATCHED
#define CAPACITY_CHANGED(n, c) false
#else
#define CAPACITY_CHANGED(n, c) SEEN(c, n).config_changed
#endif
#ifdef MUTANT_TAKEN_NOT_WATCHED
#define TAKEN_CHANGED(n, c) false
#else
#define TAKEN_CHANGED(n, c) SEEN(c, n).taken_changed
#endif
#ifdef MUTANT_HOLDERS_NOT_WATCHED
#define HOLDERS_CHANGED(n, c) false
#else
#define HOLDERS_CHANGED(n, c) SEEN(c, n).holders_changed != 0
#endif
#ifdef MUTANT_OWN_KEYS_NOT_WATCHED
#define OWN_CHANGED(n, c) false
#else
#define OWN_CHANGED(n, c) (((SEEN(c, n).holders_changed | SEEN(c, n).waiters_changed) & BIT(c)) != 0)
#endif
#ifdef MUTANT_PREDECESSOR_NOT_WATCHED
#define AHEAD_CHANGED(n, c) false
#else
#define AHEAD_CHANGED(n, c) \
	(SEEN(c, n).waiters_changed & (SEEN(c, n).ahead == c -> 255 : BIT(SEEN(c, n).ahead))) != 0
#endif

/* add_keys() */
#define TOLD_OF(n, c) \
	(WANTS(c, n) && (CAPACITY_CHANGED(n, c) || OWN_CHANGED(n, c) \
		|| (SEEN(c, n).first == c -> TAKEN_CHANGED(n, c) || HOLDERS_CHANGED(n, c) : AHEAD_CHANGED(n, c))))
#ifdef SEVERAL
#define TOLD(c) (TOLD_OF(0, c) || TOLD_OF(1, c))
#else
#define TOLD(c) TOLD_OF(0, c)
#endif

#ifdef MUTANT_WATCHES_FROM_NOW
inline watch_from_now(c)
{
	j_ = 0;
	do
	:: j_ < NAMES ->
		SEEN(c, j_).config_changed = false;
		SEEN(c, j_).taken_changed = false;
		SEEN(c, j_).waiters_changed = 0;
		SEEN(c, j_).holders_changed = 0;
		j_++
	:: else -> break
	od
}
#endif

/* ---- clients ---- */

#ifdef SEVERAL
#define HOLDS(c) (SEEN(c, 0).holds || SEEN(c, 1).holds)
#define WAITS(c) (SEEN(c, 0).waits || SEEN(c, 1).waits)
#define NAMES_OF_HOLD(c) (SEEN(c, 0).holds && SEEN(c, 1).holds -> 2 : 1)
#define STANDS_IN_PART(c) (WANTS(c, 0) && WANTS(c, 1) && SEEN(c, 0).waits != SEEN(c, 1).waits)
#define HAS_PART(c) \
	(!ANY(c) && WANTS(c, 0) && WANTS(c, 1) && SEEN(c, 0).holds != SEEN(c, 1).holds)
#else
#define HOLDS(c) (SEEN(c, 0).holds)
#define WAITS(c) (SEEN(c, 0).waits)
#define NAMES_OF_HOLD(c) 1
#define STANDS_IN_PART(c) false
#define HAS_PART(c) false
#endif

/* It has been cancelled, perhaps in one of its lines. */
#define IS_OUT(c) (STANDS_IN_PART(c) || (in_line && !WAITS(c)))

#define LOOK d_step { look(me); skip }

/* The client ends, as by SIGKILL or with its machine. */
#define MAY_DIE \
	if \
	:: d_step { deaths > 0 -> deaths--; dead[me] = true } -> goto dies \
	:: true \
	fi

inline note_queued(c, known)
{
	j_ = 0;
	do
	:: j_ < NAMES -> SEEN(c, j_).waits = known && WANTS(c, j_); j_++
	:: else -> break
	od
}

/* keeper_acquire(), keeper_hold() and keeper_release(). What a client decides by its view takes no step of its own. */
proctype client(byte me)
{
	bool ok;
	bool answered;
	bool in_line; /* it surely was */
	byte attempts;
again: /* step() */
	MAY_DIE;
	atomic {
		LOOK;
		if
		:: !lease_lives[me] -> d_step { lease_lives[me] = true; in_line = false; forget(me); skip }; goto again
		:: lease_lives[me] && HOLDS(me) -> goto holds
		:: else
		fi;
		if
		:: IS_OUT(me) -> goto queues
		:: !IS_OUT(me) && HAS_TURN(me) -> goto grants
		:: else
		fi;
		if
		:: WAITS(me) -> goto waits
		:: !WAITS(me) -> goto queues
		fi
	};
grants:
	skip;
	SEND(GRANT, grant, me);
	if
	:: ok -> goto holds
	:: !ok -> goto again
	fi;
queues:
	if
	:: in_line && !V[me].lease_ended -> /* check_for_cancellation() */
		d_step { PROMISE(place_kept, cancelled[me]) };
		goto leaves
	:: !in_line && STANDS_IN_PART(me) -> /* keeping_renew() */
		d_step { end_lease(me); skip };
		goto again
	:: else
	fi;
#if defined(SEVERAL) && defined(MUTANT_QUEUES_ONE_BY_ONE)
	d_step { queue_in(me, me, 1); skip };
	d_step { queue_in(me, me, 2); skip };
#else
	SEND(QUEUE, queue, me);
	d_step { in_line = in_line || ok; note_queued(me, ok); skip };
#endif
	goto again;
waits: /* wait_for_change() */
	skip;
	d_step { in_line = true; rest(me); skip };
#ifdef MUTANT_WATCHES_FROM_NOW
	d_step { watch_from_now(me); skip };
#endif
	if
	:: TOLD(me) || !lease_lives[me] -> goto again
	:: d_step { quits > 0 -> quits-- }
	:: d_step { deaths > 0 -> deaths--; dead[me] = true } -> goto dies
	fi;
	SEND(LEAVE, leave, me); /* leave() */
	LOOK;
	if
	:: HOLDS(me)
	:: !HOLDS(me) -> goto leaves
	fi;
holds: /* keeper_hold(): the command runs */
	MAY_DIE;
#ifdef TAKES
	if
	:: TAKES(me) -> goto takes
	:: else
	fi;
#endif
	if
	:: goto releases
	:: goto by_view       /* the view of the grant */
	:: LOOK; goto by_view /* claim_foresee() */
	fi;
releases: /* claim_release() */
	skip;
	LOOK;
by_view:
	attempts = 0;
	d_step {
		PROMISE(all_or_nothing, !HAS_PART(me) || V[me].lease_ended);
		PROMISE(waits_or_holds, !WAITS(me) || !HOLDS(me) || V[me].lease_ended)
	};
	do
	:: !HOLDS(me) -> goto leaves
	:: HOLDS(me) && attempts < 2 && NAMES_OF_HOLD(me) == 1 ->
		SEND(HAND_OVER, hand_over, me);
		if
		:: ok -> goto leaves
		:: answered && !ok -> LOOK; attempts++
		:: !answered -> break
		fi
	:: HOLDS(me) && (attempts == 2 || NAMES_OF_HOLD(me) > 1) -> break
	od;
	SEND(RELEASE, release, me);
	if
	:: answered -> goto leaves
	:: !answered -> goto releases
	fi;
#ifdef TAKES
takes: /* keeper_take() */
	skip;
	SEND(TAKE, take, me);
	if
	:: ok -> goto leaves
	:: !ok -> LOOK
	fi;
	if
	:: HOLDS(me) -> goto takes
	:: !HOLDS(me)
	fi;
#endif
leaves: /* end_lease() of keeping.c */
	MAY_DIE;
#ifndef MUTANT_LEASE_STAYS
	d_step {
		if
		:: lease_lives[me] -> end_lease(me)
		:: else
		fi;
		skip
	};
#endif
dies:
	skip;
	d_step { forget(me); in_line = false; ok = false; answered = false; attempts = 0; ended++ }
}

/* At the end, nothing is left but what the dead have left in held/ for the next holder. */
proctype books()
{
	(ended == CLIENTS && late == 0);
	d_step {
		j_ = 0;
		do
		:: j_ < NAMES ->
			i_ = 0;
			do
			:: i_ < CLIENTS ->
				PROMISE(books_balance, dead[i_] || (S[j_].waiter[i_] == 0 && !S[j_].holder[i_]));
				died[j_] = (S[j_].holder[i_] -> died[j_] | BIT(i_) : died[j_]); /* its lease has not ended yet */
				i_++
			:: else -> break
			od;
			PROMISE(death_is_told, S[j_].held == died[j_]);
			j_++
		:: else -> break
		od;
		skip
	}
}

/* cli/etcd/etcd_set.c */
proctype setter(byte first, second)
{
	d_step { S[0].capacity = first; change_config(0); skip };
	d_step { S[0].capacity = second; change_config(0); skip }
}

#ifdef TAKES
#ifdef MUTANT_POSTS_BY_OLD_COUNT
#define POSTS true
#else
#define POSTS (!taken_since)
#endif

/* cli/etcd/etcd_post.c: posts one permit, again and again. */
proctype poster()
{
	byte taken;
end:
	do
	:: d_step { S[0].taken > 0 -> taken = S[0].taken; taken_since = false };
		if
		:: d_step { POSTS -> change_taken(0, taken - 1); are_taken--; PROMISE(books_balance, S[0].taken == are_taken) }
		:: !(POSTS)
		fi
	od
}
#endif

/* cli/etcd/etcd_cancel.c: of one client. */
proctype canceller(byte c)
{
end:
	d_step { S[NAMES - 1].waiter[c] != 0 -> delete_waiter(NAMES - 1, c); cancelled[c] = true }
}

inline begin(first, second)
{
	d_step {
		S[0].capacity = first;
#ifdef SEVERAL
		S[1].capacity = second;
#endif
		j_ = 0;
		do
		:: j_ < CLIENTS -> lease_lives[j_] = true; j_++
		:: else -> break
		od;
		skip
	};
	run network();
	run books()
}
