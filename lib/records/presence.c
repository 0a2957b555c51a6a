/* SPDX-License-Identifier: MIT */
#include "records/presence.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "cancellation.h"
#include "lock.h"
#include "system/process_mutex.h"

/* A process's lock on one file. A forked child has its parent's in this list, too. */
struct presence {
	uint64_t owner; /* with OWNER_LOCKED */
	dev_t device;
	ino_t inode;
	int fd;
	void *page;       /* a mapping, by which the lock outlives the descriptor */
	unsigned handles; /* that use it; it may stay without any */
	struct presence *next;
};

/* Linux's PROC_PID_INIT_INO: processes of the first PID namespace are in no container. */
#define INITIAL_PID_NAMESPACE UINT32_C(0xeffffffc)

static bool
is_needed(const struct tsem *sem, const struct identity *self)
{
	const bool may_become_mixed = self->pid_ns != INITIAL_PID_NAMESPACE;
	return !sem->segment.embedded && (may_become_mixed || LOAD_SEQ(&sem->segment.header->mixed_pid_ns) != 0);
}

/* ---- the list ---- */

static struct presence *presences; /* only with process_mutex */

static void
destroy(const struct tsem *sem, struct presence *presence)
{
	if (presence->page != MAP_FAILED)
		munmap(presence->page, PAGE_BYTES);
	if (presence->fd >= 0)
		lock_close(&sem->segment, presence->fd);
	free(presence);
}

static struct presence *
create(const struct tsem *sem, uint64_t owner)
{
	struct presence *presence = malloc(sizeof(*presence));
	if (presence == NULL)
		return NULL;
	*presence = (struct presence){
		.owner = owner | OWNER_LOCKED,
		.device = sem->segment.device,
		.inode = sem->segment.inode,
		.page = MAP_FAILED,
	};
	presence->fd = lock_open(&sem->segment, sem->name);
	if (presence->fd >= 0)
		presence->page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, presence->fd, 0);
	if (presence->page == MAP_FAILED || lock_take(&sem->segment, presence->fd, owner_unlocked(owner)) < 0) {
		destroy(sem, presence);
		return NULL;
	}
	madvise(presence->page, PAGE_BYTES, MADV_DONTFORK); /* a child inherits the descriptor alone */
	/* TSEM_NO_DESCRIPTOR */
	if (sem->segment.fd < 0) {
		lock_close(&sem->segment, presence->fd);
		presence->fd = -1;
	}
	return presence;
}

/* Finds this process's presence for the file, or makes one; NULL if that is not possible. */
static struct presence *
find_or_create(const struct tsem *sem, uint64_t owner)
{
	for (struct presence *p = presences; p != NULL; p = p->next) {
		if (owner_unlocked(p->owner) == owner && p->device == sem->segment.device && p->inode == sem->segment.inode)
			return p;
	}
	struct presence *presence = create(sem, owner);
	if (presence == NULL)
		return NULL;
	presence->next = presences;
	presences = presence;
	return presence;
}

static void
take_out(const struct presence *presence)
{
	struct presence **at = &presences;
	while (*at != presence)
		at = &(*at)->next;
	*at = presence->next;
}

/* ---- the handle's ---- */

uint64_t
presence_owner(struct tsem *sem, const struct identity *self)
{
	/* Acquire: pairs with the release below. */
	struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	if (presence != NULL && owner_unlocked(presence->owner) == self->owner)
		return presence->owner;
	if (!is_needed(sem, self))
		return self->owner;

	NO_CANCELLATION;
	process_mutex_lock();
	/* Another thread may have been faster. Relaxed: the mutex orders it. */
	presence = atomic_load_explicit(&sem->presence, memory_order_relaxed);
	if (presence == NULL || owner_unlocked(presence->owner) != self->owner) {
		presence = find_or_create(sem, self->owner);
		if (presence != NULL) {
			presence->handles++;
			atomic_store_explicit(&sem->presence, presence, memory_order_release);
		}
	}
	process_mutex_unlock();
	return presence == NULL ? self->owner : presence->owner;
}

uint64_t
presence_of_child(const struct tsem *sem, const struct identity *self, uint64_t parent)
{
	const struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	if (presence == NULL || presence->owner != parent
	    || lock_take(&sem->segment, presence->fd, owner_unlocked(self->owner)) < 0)
		return self->owner;
	return self->owner | OWNER_LOCKED;
}

void
presence_forget_child(const struct tsem *sem, uint64_t child)
{
	const struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	if (presence != NULL && owner_kind(child) == OWNER_KIND_PROCESS && (child & OWNER_LOCKED) != 0
	    && child != presence->owner)
		lock_release(&sem->segment, presence->fd, owner_unlocked(child));
}

/*
 * A live process that closes its handle releases its lock, and may lock the same byte again for its next claim, even of
 * the same record. So a lock that is gone proves a death only if the owner had its lock when this process read it, and
 * no live process has released a lock since.
 */
enum liveness
presence_judge(const struct tsem *sem, const struct record *record, uint64_t owner)
{
	enum { TRIES_MAX = 16 };
	const struct header *header = sem->segment.header;
	if (owner_kind(owner) != OWNER_KIND_PROCESS || (owner & OWNER_LOCKED) == 0)
		return LIVENESS_UNKNOWN;
	for (int i = 0; i < TRIES_MAX; i++) {
		const uint32_t unlocks = LOAD_SEQ(&header->unlocks);
		if (LOAD_SEQ(&record->owner) != owner)
			break;
		const int taken = lock_is_taken(&sem->segment, sem->name, owner_unlocked(owner));
		if (taken != 0)
			return taken < 0 ? LIVENESS_UNKNOWN : LIVENESS_ALIVE;
		if (segment_word_is(&sem->segment, &header->unlocks, unlocks))
			return LIVENESS_DEAD;
	}
	return LIVENESS_UNKNOWN;
}

/* Whether the process owns a record. It keeps its holds when it closes the handle. */
static bool
owns_a_record(struct tsem *sem)
{
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		if (identity_is(LOAD_ACQ(&record->owner)))
			return true;
	}
	return false;
}

/* An inherited presence stays: a hold that this child has adopted may need its descriptor. */
void
presence_close(struct tsem *sem)
{
	struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	if (presence == NULL || !identity_is(presence->owner))
		return;
	NO_CANCELLATION;
	process_mutex_lock();
	if (--presence->handles == 0 && !owns_a_record(sem)) {
		ADD_SEQ(&sem->segment.header->unlocks, 1); /* before the lock is gone: see presence_judge() */
		take_out(presence);
		destroy(sem, presence);
	}
	process_mutex_unlock();
}
