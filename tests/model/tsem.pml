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
#ifdef MAX_WAITING
#include "limit.pml"
#endif
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
		:: round < rounds -> acquire(n, false); release(n); round++ \
		:: else -> break \
		od; \
		END \
	}

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

#ifdef MAX_WAITING
/* Acquires unless so many wait, and releases; with `quits` it may give up waiting. */
#define LIMITED(name, n, quits) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire_unless_full(n, quits); \
		if \
		:: ok -> release(n) \
		:: else \
		fi; \
		END \
	}
#endif

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
		:: round < rounds -> take(n, false); post(n); round++ \
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
/* Declares the owner of a record dead, at any moment at which it waits. (Of a holder, the count may be wrong then.) */
#define DECLARER_OF(name, index) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		declare_dead(index); \
		END \
	}

/* lib/calls/named_owner.c. The waiter need not be woken: it may give up at any time. */
inline declare_dead(index)
{
	STEP(rel_state = state[index]; mg_count = count[index]; ticket = state_value(rel_state));
	read_first_half
	if
	OR_DIE
	:: d_step { state_kind(rel_state) != STATE_QUEUED || ahead_of(ticket) >= mg_count -> first_half = 0 }
	:: d_step { state_kind(rel_state) == STATE_QUEUED && ahead_of(ticket) < mg_count -> first_half = 0 };
		if
		OR_DIE
		:: CAS_WORKS(state[index], rel_state, rel_state | STATE_DECLARED,
		             if
		             :: owner_is_orphan(owner[index])
		             :: else -> p_ = owner_pid(owner[index]); note_declaration(mg_count)
		             fi);
			note_orphan(ticket);
			bump_after_note();
			recover_from(SKIP, false)
		:: CAS_FAILS(state[index], rel_state, skip)
		fi
	fi;
	rel_state = 0;
	mg_count = 0;
	ticket = 0
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
