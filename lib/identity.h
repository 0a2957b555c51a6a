/* SPDX-License-Identifier: MIT */
/* Who the calling process is, as it stands in a record; and noticing that it has forked. */
#ifndef TSEM_LIB_IDENTITY_H
#define TSEM_LIB_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"

struct identity {
	uint64_t owner;  /* an OWNER value of shm/layout.h */
	uint32_t pid_ns; /* inode number of the namespace the pid belongs to; 0: not known */
	uint32_t uid;
	int64_t boot_offset; /* as boot_offset_read() said when this was looked up */
};

/*
 * Kept in a page that the kernel clears in a forked child, so that the child finds itself without an identity. Threads
 * that fill it at the same time store the same values; `owner` comes last and says that the rest is there.
 */
struct identity_cache {
	_Atomic uint64_t owner;
	_Atomic int64_t boot_offset;
	_Atomic uint32_t pid_ns;
	_Atomic uint32_t uid;
	_Atomic uint32_t one_pid; /* 0: not looked up yet, 1: yes, 2: no */
};

/* NULL until the first use, and for good where the kernel does not clear it (before Linux 4.14). */
extern struct identity_cache *_Atomic identity_trusted_cache;

uint64_t identity_owner_uncached(void);

/* From now on the kernel clears these pages in a forked child. False: it cannot. */
bool clear_on_fork(void *memory, size_t size);

/* 0 if this process has not been looked up yet. */
static inline uint64_t
identity_owner_cached(void)
{
	struct identity_cache *cache = atomic_load_explicit(&identity_trusted_cache, memory_order_acquire);
	return cache == NULL ? 0 : LOAD_ACQ(&cache->owner);
}

/*
 * The calling process. Costs no system call but for the first time in a process, also in a forked one. 0 and false: no
 * memory (ENOMEM), which only the first call of a program can meet.
 */
static inline uint64_t
identity_owner(void)
{
	const uint64_t owner = identity_owner_cached();
	return owner != 0 ? owner : identity_owner_uncached();
}

bool identity_get(struct identity *identity);

/* Looks the calling process up, if need be. -ENOMEM, -EMFILE, -ENFILE: not possible now. */
int identity_prepare(void);

/* /proc knows one pid for us: so it is that of our own PID namespace, and not that of one around it. */
bool identity_has_one_pid(void);

/* When the calling process started, read now, where boot time is ahead by `offset`. 0: cannot be told. */
uint64_t own_start_read(int64_t offset);

/*
 * The calling process, read afresh: in a child of vfork() the parent's memory is not to be believed, nor written to.
 * -EMFILE or -ENFILE: not possible now. Without a /proc it succeeds, and leaves unknown what only that could tell.
 */
int identity_read(struct identity *identity);

#endif
