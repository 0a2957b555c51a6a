/* SPDX-License-Identifier: MIT */
#include "system/identity.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"
#include "system/proc.h"

struct identity_cache *_Atomic identity_trusted_cache;
static struct identity_cache *_Atomic page; /* the same page, but set even if no fork clears it */

/*
 * Reads the line of the first thread, because emulators invent that of the process: QEMU's user mode shows a start time
 * there that no other process sees. In a foreign /proc the thread has another number, and only the process is found.
 */
uint64_t
own_start_read(int64_t offset)
{
	char pid[12];
	struct process_stat stat;
	pid_to_text(getpid(), pid);
	if (!process_stat_read("self", proc_is_ours() ? pid : NULL, &stat))
		return 0;
	return start_since_boot(stat.start, offset);
}

static bool
is_short_of_descriptors(void)
{
	return errno == EMFILE || errno == ENFILE;
}

/*
 * Two processes of the same pid must not have the same owner word. Where the namespace is not known, the kernel's
 * random bytes of the last exec() tell most of them apart, and a process has the same number until it executes another
 * program.
 */
static uint32_t
namespace_number(uint32_t pid_ns)
{
	const unsigned long random = getauxval(AT_RANDOM);
	if (pid_ns == 0 && random != 0)
		memcpy(&pid_ns, (const void *)random, sizeof(pid_ns));
	return pid_ns;
}

int
identity_read(struct identity *identity)
{
	const int saved = errno;
	int rc = 0;
	/* For lack of a descriptor it fails: a later call may read what this one cannot, and get another identity. */
	errno = 0;
	identity->boot_offset = boot_offset_read();
	if (identity->boot_offset == BOOT_OFFSET_UNKNOWN && is_short_of_descriptors())
		rc = -errno;
	errno = 0;
	const uint64_t start = own_start_read(identity->boot_offset);
	if (start == 0 && is_short_of_descriptors())
		rc = -errno;
	errno = 0;
	identity->pid_ns = own_pid_namespace();
	if (identity->pid_ns == 0 && is_short_of_descriptors())
		rc = -errno;
	identity->owner = owner_in_namespace(owner_process((uint32_t)getpid(), start), namespace_number(identity->pid_ns));
	identity->uid = geteuid();
	errno = saved;
	return rc;
}

/*
 * Tries advice that does not exist first: QEMU's user mode (at least 7.2) accepts unknown advice and ignores it.
 * BoringSSL's fork_detect.c makes the same test.
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

	/* Sequentially consistent, though release and acquire would do: it happens a few times in a process at most. */
	struct identity_cache *expected = NULL;
	if (!atomic_compare_exchange_strong(&page, &expected, memory)) {
		munmap(memory, PAGE_BYTES);
		return expected;
	}
	/* Release: a thread that reads the pointer sees the page mapped and cleared. */
	if (cleared_by_fork)
		atomic_store_explicit(&identity_trusted_cache, memory, memory_order_release);
	return memory;
}

/*
 * Returns the page in `filled`, and fills it if this process has not done so. Returns 0 or a negative errno. Where no
 * fork clears the page, a descendant with the same pid in another PID namespace keeps the wrong identity.
 */
static int
fill_page(struct identity_cache **filled)
{
	/* Acquire: pairs with the exchange in create_page(). */
	struct identity_cache *cache = atomic_load_explicit(&page, memory_order_acquire);
	if (cache == NULL && (cache = create_page()) == NULL)
		return -ENOMEM;
	*filled = cache;
	const uint64_t owner = LOAD_ACQ(&cache->owner);
	/* Relaxed: it matters only whether the pointer is NULL, and if it is, getpid() decides. */
	const bool cleared_by_fork = atomic_load_explicit(&identity_trusted_cache, memory_order_relaxed) != NULL;
	if (owner != 0 && (cleared_by_fork || owner_pid(owner) == (uint32_t)getpid()))
		return 0;

	struct identity fresh;
	int rc = identity_read(&fresh);
	if (rc < 0)
		return rc;
	/* Release, for `owner`: a thread that reads it with acquire sees the words before it, which are relaxed. */
	STORE_RLX(&cache->pid_ns, fresh.pid_ns);
	STORE_RLX(&cache->boot_offset, fresh.boot_offset);
	STORE_RLX(&cache->uid, fresh.uid);
	STORE_RLX(&cache->one_pid, 0);
	STORE_REL(&cache->owner, fresh.owner);
	return 0;
}

uint64_t
identity_owner_uncached(void)
{
	struct identity_cache *cache;
	return fill_page(&cache) < 0 ? 0 : LOAD_ACQ(&cache->owner);
}

int
identity_get(struct identity *identity)
{
	struct identity_cache *cache;
	int rc = fill_page(&cache);
	if (rc < 0)
		return rc;
	identity->owner = LOAD_ACQ(&cache->owner);
	identity->pid_ns = LOAD_RLX(&cache->pid_ns);
	identity->boot_offset = LOAD_RLX(&cache->boot_offset);
	identity->uid = LOAD_RLX(&cache->uid);
	return 0;
}

uint32_t
identity_pid_ns(void)
{
	struct identity self;
	return identity_get(&self) == 0 ? self.pid_ns : 0;
}

bool
identity_has_one_pid(void)
{
	enum { UNKNOWN, YES, NO }; /* UNKNOWN is 0, as in a cleared page */
	struct identity_cache *cache;
	if (fill_page(&cache) < 0)
		return false;
	/* Relaxed: the word depends on no other. A thread that fills the page may make it UNKNOWN again. */
	uint32_t one_pid = LOAD_RLX(&cache->one_pid);
	if (one_pid == UNKNOWN) {
		struct process_pids pids;
		if (!process_pids_read("self", &pids))
			return false;
		one_pid = pids.count == 1 ? YES : NO;
		STORE_RLX(&cache->one_pid, one_pid);
	}
	return one_pid == YES;
}
