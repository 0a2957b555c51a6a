/* SPDX-License-Identifier: MIT */
/*
 * The atomic operations that tsem uses, with the memory order in the name.
 *
 * Everything in a segment that more than one process may touch is read and written through these, never through a
 * plain access and never through `volatile`: peers may change it between any two instructions.
 */
#ifndef TSEM_SHM_ATOMIC_H
#define TSEM_SHM_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Words are shared between processes, so a lock hidden in one process's libatomic would not do. */
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

/* True if *p was `expected` and is `desired` now. Sequentially consistent where it succeeds. */
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
