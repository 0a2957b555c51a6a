/* SPDX-License-Identifier: MIT */
/*
 * The model of tsem's protocol. A configuration (configs/) defines the numbers of processes and records, the capacity,
 * which processes may die, and what each process does. A file here models the file of that name in lib/, and a function
 * the function of that name, step by step. tests/README.md says what the model checks and what it leaves out.
 */
#include "layout.pml"
#include "witness.pml"
#include "steps.pml"
#include "presence.pml"
#ifdef IDLERS
#include "notify.pml"
#include "census.pml"
#endif
#include "protocol.pml"
#include "wake.pml"
#include "recover_record.pml"
#include "recover.pml"
#include "grant.pml"
#ifdef BOUNDED
#include "anonymous.pml"
#endif
#include "post.pml"
#include "wait.pml"
#ifdef CACHES_RECORDS
#include "fast.pml"
#endif
#include "record.pml"
#include "queue.pml"
#include "hold.pml"
#include "take.pml"
#ifdef IDLERS
#include "idle.pml"
#endif
#ifdef TRANSFERS
#include "transfer.pml"
#endif
#ifdef LOCKS
#include "kernel.pml"
#endif
#ifdef SETTER
#include "set.pml"
#endif
#include "rest.pml"

/* The condition under which a process begins: at once, unless the configuration defines another. */
#define first_has_arrived (counter_value(T) != COUNTER_START || dead[0])
#ifndef BEGINS
#define BEGINS(me) true
#endif

#define END goto gone; dies: atomic { die(); FORGET }; gone: atomic { FORGET }

/* The process ends by itself. */
#define EXIT STEP(dead[me] = true; in_use[me] = 0; recent_death = true)

/* Acquires and releases. */
#define HOLDER(name, n, rounds) \
	proctype name(byte me) \
	{ \
		byte round; \
		LOCALS; \
		BEGINS(me); \
		do \
		:: round < rounds -> acquire(n, false); release_if_acquired(n); round++ \
		:: else -> break \
		od; \
		END \
	}

/* An acquire without a deadline fails only if the process was declared dead. */
#ifdef DECLARES
#define release_if_acquired(n) \
	if \
	:: ok -> release(n) \
	:: else \
	fi
#define post_if_taken(n) \
	if \
	:: ok -> post(n) \
	:: else \
	fi
#else
#define release_if_acquired(n) release(n)
#define post_if_taken(n) post(n)
#endif

#ifdef CACHES_RECORDS
/* Acquires and releases, and then closes the handle. */
#define CLOSER(name, n, rounds) \
	proctype name(byte me) \
	{ \
		byte round; \
		LOCALS; \
		BEGINS(me); \
		do \
		:: round < rounds -> acquire(n, false); release(n); round++ \
		:: else -> break \
		od; \
		record_free_cached(); \
		END \
	}
#endif

/* Acquires and releases, but may give up waiting. */
#define QUITTER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, true); \
		if \
		:: ok -> release(n) \
		:: else \
		fi; \
		END \
	}

/* Acquires without a release, but may give up waiting. */
#define LEAVER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, true); \
		END \
	}

/* Acquires, and holds to the end. */
#define KEEPER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, false); \
		END \
	}

/* Acquires, and then ends without a release. */
#define FORGETFUL(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, false); \
		EXIT; \
		END \
	}

/* Tries to acquire, and releases. */
#define TRIER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		try_acquire(n); \
		if \
		:: ok -> release(n) \
		:: else \
		fi; \
		END \
	}

/* Takes anonymously, and posts the same number. */
#define TAKER(name, n, rounds) \
	proctype name(byte me) \
	{ \
		byte round; \
		LOCALS; \
		BEGINS(me); \
		do \
		:: round < rounds -> take(n, false); post_if_taken(n); round++ \
		:: else -> break \
		od; \
		END \
	}

/* Recovers all. */
#define RECOVERER(name) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		recover_from(ALL, true); \
		END \
	}

/* Recovers a single record. */
#define RECOVERER_OF(name, index) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		recover_record(index); \
		END \
	}

#ifdef DECLARES
/* Declares the owner of a record dead, at any moment, whether it holds, waits or does neither. */
#define DECLARER_OF(name, index) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		declare(index); \
		END \
	}

inline declare(index)
{
	STEP(ar_tickets = T);
	if
	:: counter_tag(ar_tickets) == tag_make(index, 0) || counter_tag(ar_tickets) == tag_make(index, 1) ->
		finish_arrival(ar_tickets)
	:: else
	fi;
	ar_tickets = 0;
	STEP(rc_state = state[index];
	     rc_declares = (state_kind(rc_state) >= STATE_QUEUED -> state_value(rc_state) + 1 : 0));
	rc_state = 0;
	if
	:: rc_declares > 0 -> recover_record(index)
	:: else
	fi;
	rc_declares = 0
}
#endif

#define POSTER(name, n, rounds) \
	proctype name(byte me) \
	{ \
		byte round; \
		LOCALS; \
		BEGINS(me); \
		do \
		:: round < rounds -> post(n); round++ \
		:: else -> break \
		od; \
		END \
	}

#define SETS(name, permits) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		set_capacity(permits); \
		END \
	}

#define SETS_TWICE(name, first, second) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		set_capacity(first); \
		set_capacity(second); \
		END \
	}
