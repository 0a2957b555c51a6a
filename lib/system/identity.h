/* SPDX-License-Identifier: MIT */
/* The calling process's own identity, as records have it. A forked child gets a new one. */
#ifndef TSEM_LIB_IDENTITY_H
#define TSEM_LIB_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "layout.h"

struct identity {
	uint64_t owner;  /* an OWNER value of shm/layout.h, without OWNER_LOCKED */
	uint32_t pid_ns; /* inode number of the pid's namespace; 0: not known */
	uint32_t uid;
	int64_t boot_offset; /* what boot_offset_read() returned at that time */
};

/*
 * The identity in a page that the kernel clears in a forked child, so that the child reads its own. Threads that fill
 * the page at the same time store the same values. `owner` is stored last: if it is not 0, the other words are valid.
 */
struct identity_cache {
	_Atomic uint64_t owner;
	_Atomic int64_t boot_offset;
	_Atomic uint32_t pid_ns;
	_Atomic uint32_t uid;
	_Atomic uint32_t one_pid; /* 0: not read yet, 1: yes, 2: no */
};

/* NULL before the first use, and always where the kernel does not clear the page in a child (before Linux 4.14). */
extern struct identity_cache *_Atomic identity_trusted_cache;

/* Tells the kernel to clear these pages in a forked child. Returns false if it cannot. */
bool clear_on_fork(void *memory, size_t size);

/* Like identity_owner(), for an empty cache. */
uint64_t identity_owner_uncached(void);

/*
 * Returns the owner value of the calling process. Only the first call in a process, also in a forked one, makes system
 * calls; where identity_trusted_cache stays NULL, each call makes one. 0: not possible now, identity_get() returns the
 * reason.
 */
static inline uint64_t
identity_owner(void)
{
	/* Acquire: pairs with the release in create_page(). */
	struct identity_cache *cache = atomic_load_explicit(&identity_trusted_cache, memory_order_acquire);
	const uint64_t owner = cache == NULL ? 0 : LOAD_ACQ(&cache->owner);
	return owner != 0 ? owner : identity_owner_uncached();
}

/* Whether the owner word is the calling process's, with or without OWNER_LOCKED. */
static inline bool
identity_is(uint64_t owner)
{
	return owner != 0 && owner_unlocked(owner) == identity_owner();
}

/* Returns the identity from the cache, which it fills if that is empty. -ENOMEM, -EMFILE, -ENFILE: not possible now. */
int identity_get(struct identity *identity);

/* The inode number of the calling process's PID namespace; 0: not known. */
uint32_t identity_pid_ns(void);

/* Whether /proc has one pid for this process. If it has more, it shows a PID namespace around this process's own. */
bool identity_has_one_pid(void);

/* Reads the calling process's start, as start_since_boot() returns it for the boot offset `offset`. 0: not known. */
uint64_t own_start_read(int64_t offset);

/*
 * Reads the identity of the calling process without the cache: in a child of vfork() the cache is the parent's. -EMFILE
 * or -ENFILE: not possible now. Without a /proc it succeeds, and what only /proc contains is not known.
 */
int identity_read(struct identity *identity);

#endif
