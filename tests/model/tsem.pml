/* SPDX-License-Identifier: MIT */
/*
 * The model of tsem's protocol. A configuration (configs/) defines how many processes and records there are, what the
 * capacity is, who may die, and which process does what. tests/README.md says how this relates to the code.
 */
#include "layout.pml"
#include "witness.pml"
#include "steps.pml"
#ifdef IDLERS
#include "notify.pml"
#include "census.pml"
#endif
#include "protocol.pml"
#include "wake.pml"
#include "recover_record.pml"
#include "recover.pml"
#include "grant.pml"
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
#ifdef SETTER
#include "set.pml"
#endif
#include "rest.pml"

/* When a process begins: at once, unless a configuration says otherwise. */
#define first_has_arrived (counter_value(T) != COUNTER_START || dead[0])
#ifndef BEGINS
#define BEGINS(me) true
#endif

#define END goto gone; dies: atomic { die(); FORGET }; gone: atomic { FORGET }

/* The end of a process, of its own accord. */
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
/* And closes the handle. */
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

/* Does not wait for ever. */
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

/* Does not wait for ever, and holds on if it succeeds. */
#define LEAVER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, true); \
		END \
	}

/* Holds on for ever. */
#define KEEPER(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, false); \
		END \
	}

/* Acquires, and ends without a release. */
#define FORGETFUL(name, n) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		acquire(n, false); \
		EXIT; \
		END \
	}

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

/* Anonymous, posting what it took. */
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

#define RECOVERER(name) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		recover_from(ALL, true); \
		END \
	}

/* One record only. */
#define RECOVERER_OF(name, index) \
	proctype name(byte me) \
	{ \
		LOCALS; \
		BEGINS(me); \
		recover_record(index); \
		END \
	}

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
