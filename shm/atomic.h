/* SPDX-License-Identifier: MIT */
/*
 * The atomic operations that tsem uses. Each has its memory order in its name: RLX relaxed, ACQ acquire, REL release,
 * SEQ sequentially consistent.
 *
 * Every access to a word of a segment that may change goes through these, never through a plain or a `volatile` access:
 * a peer may change the word between any two instructions.
 */
#ifndef TSEM_SHM_ATOMIC_H
#define TSEM_SHM_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Processes share the words. Atomics with a lock would not work: libatomic's locks belong to one process. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "tsem needs lock-free 64-bit atomics");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "tsem needs lock-free 32-bit atomics");
_Static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "atomics must not be padded");

#define LOAD_RLX(p) atomic_load_explicit((p), memory_order_relaxed)
#define LOAD_ACQ(p) atomic_load_explicit((p), memory_order_acquire)
#define LOAD_SEQ(p) atomic_load_explicit((p), memory_order_seq_cst)
#define STORE_RLX(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define STORE_REL(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define STORE_SEQ(p, v) atomic_store_explicit((p), (v), memory_order_seq_cst)
#define ADD_RLX(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define ADD_SEQ(p, v) atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)
#define AND_SEQ(p, v) atomic_fetch_and_explicit((p), (v), memory_order_seq_cst)
#define OR_SEQ(p, v) atomic_fetch_or_explicit((p), (v), memory_order_seq_cst)

/*
 * Changes *p from `expected` to `desired`; returns false if *p has another value. A failure is an acquire: it means
 * that another process changed *p, and the caller then reads what that process wrote before.
 */
static inline bool
CAS_SEQ(_Atomic uint64_t *p, uint64_t expected, uint64_t desired)
{
	return atomic_compare_exchange_strong_explicit(p, &expected, desired, memory_order_seq_cst, memory_order_acquire);
}

static inline bool
CAS_SEQ32(_Atomic uint32_t *p, uint32_t expected, uint32_t desired)
{
	return atomic_compare_exchange_strong_explicit(p, &expected, desired, memory_order_seq_cst, memory_order_acquire);
}

#endif
