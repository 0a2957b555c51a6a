/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"
#include "proc.h"

struct identity_cache *_Atomic identity_trusted_cache;
static struct identity_cache *_Atomic page; /* the same, also where it is not to be trusted after a fork */

/*
 * Emulators make up what a process reads about itself: QEMU's user mode a start time that nobody else sees, and no
 * threads. What stands there about the first thread they let through; no start time is better than a wrong one.
 */
static bool
read_own_stat(struct process_stat *stat)
{
	char pid[12];
	if (!process_stat_read("self", stat))
		return false;
	pid_to_text(getpid(), pid);
	return stat->threads != 0 || thread_stat_read("self", pid, stat);
}

uint64_t
own_start_read(int64_t offset)
{
	struct process_stat stat;
	return read_own_stat(&stat) ? start_since_boot(stat.start, offset) : 0;
}

static bool
is_short_of_descriptors(void)
{
	return errno == EMFILE || errno == ENFILE;
}

int
identity_read(struct identity *identity)
{
	const int saved = errno;
	int rc = 0;
	/* Half an identity would differ from the whole one that a later look might find. */
	errno = 0;
	identity->boot_offset = boot_offset_read();
	if (identity->boot_offset == BOOT_OFFSET_UNKNOWN && is_short_of_descriptors())
		rc = -errno;
	errno = 0;
	const uint64_t start = own_start_read(identity->boot_offset);
	if (start == 0 && is_short_of_descriptors())
		rc = -errno;
	identity->owner = owner_process((uint32_t)getpid(), start);
	errno = 0;
	identity->pid_ns = own_pid_namespace();
	if (identity->pid_ns == 0 && is_short_of_descriptors())
		rc = -errno;
	identity->uid = geteuid();
	errno = saved;
	return rc;
}

/*
 * Nonsense first: QEMU's user mode (7.2 at least) says yes to whatever is advised, and does nothing. BoringSSL's
 * fork_detect.c takes the same look.
 */
bool
clear_on_fork(void *memory, size_t size)
{
	return madvise(memory, size, -1) != 0 && madvise(memory, size, MADV_WIPEONFORK) == 0;
}

static struct identity_cache *
create_page(void)
{
	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	const bool cleared_by_fork = clear_on_fork(memory, PAGE_BYTES);

	struct identity_cache *expected = NULL;
	if (!atomic_compare_exchange_strong(&page, &expected, memory)) {
		munmap(memory, PAGE_BYTES);
		return expected;
	}
	/* Before that every look at it costs a getpid(). */
	if (cleared_by_fork)
		atomic_store_explicit(&identity_trusted_cache, memory, memory_order_release);
	return memory;
}

/* The page, its content looked up anew if this process is not the one that filled it. 0 or a negative errno. */
static int
fill_page(struct identity_cache **filled)
{
	struct identity_cache *cache = atomic_load_explicit(&page, memory_order_acquire);
	if (cache == NULL && (cache = create_page()) == NULL)
		return -ENOMEM;
	*filled = cache;
	const uint64_t owner = LOAD_ACQ(&cache->owner);
	const bool cleared_by_fork = atomic_load_explicit(&identity_trusted_cache, memory_order_relaxed) != NULL;
	if (owner != 0 && (cleared_by_fork || owner_pid(owner) == (uint32_t)getpid()))
		return 0;

	struct identity fresh;
	int rc = identity_read(&fresh);
	if (rc < 0)
		return rc;
	STORE_RLX(&cache->pid_ns, fresh.pid_ns);
	STORE_RLX(&cache->boot_offset, fresh.boot_offset);
	STORE_RLX(&cache->uid, fresh.uid);
	STORE_RLX(&cache->one_pid, 0);
	STORE_REL(&cache->owner, fresh.owner);
	return 0;
}

int
identity_prepare(void)
{
	struct identity_cache *cache;
	return fill_page(&cache);
}

uint64_t
identity_owner_uncached(void)
{
	struct identity_cache *cache;
	return fill_page(&cache) < 0 ? 0 : LOAD_ACQ(&cache->owner);
}

bool
identity_get(struct identity *identity)
{
	struct identity_cache *cache;
	if (fill_page(&cache) < 0)
		return false;
	identity->owner = LOAD_ACQ(&cache->owner);
	identity->pid_ns = LOAD_RLX(&cache->pid_ns);
	identity->boot_offset = LOAD_RLX(&cache->boot_offset);
	identity->uid = LOAD_RLX(&cache->uid);
	return true;
}

bool
identity_has_one_pid(void)
{
	enum { UNKNOWN, YES, NO };
	struct identity_cache *cache;
	if (fill_page(&cache) < 0)
		return false;
	if (LOAD_RLX(&cache->one_pid) == UNKNOWN) {
		const int pids = own_pids_count();
		if (pids < 0)
			return false;
		STORE_RLX(&cache->one_pid, pids == 1 ? YES : NO);
	}
	return LOAD_RLX(&cache->one_pid) == YES;
}
