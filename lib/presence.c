/* SPDX-License-Identifier: MIT */
#include "presence.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lock.h"

/* One descriptor for locks. It belongs to the process of the owner word; a forked child inherits it. */
struct presence {
	uint64_t owner;
	int fd;
	void *page; /* a mapping, so that the lock outlives the descriptor, if the program closes that */
	struct presence *inherited;
};

/* Linux's PROC_PID_INIT_INO: processes of the first PID namespace are in no container. */
#define INITIAL_PID_NAMESPACE UINT32_C(0xeffffffc)

static bool
is_needed(const struct tsem *sem, const struct identity *self)
{
	return !sem->segment.embedded
	       && (self->pid_ns != INITIAL_PID_NAMESPACE || LOAD_SEQ(&sem->segment.header->mixed_pid_ns) != 0);
}

static uint64_t
byte_of(uint64_t owner)
{
	return owner & ~OWNER_LOCKED;
}

static void
destroy(const struct tsem *sem, struct presence *presence)
{
	/* A child has no such mapping. In it, the address may be another mapping's. */
	if (identity_is(presence->owner))
		munmap(presence->page, PAGE_BYTES);
	lock_close(&sem->segment, presence->fd);
	free(presence);
}

static struct presence *
create(const struct tsem *sem, uint64_t owner, struct presence *inherited)
{
	struct presence *presence = malloc(sizeof(*presence));
	if (presence == NULL)
		return NULL;
	*presence = (struct presence){.owner = owner | OWNER_LOCKED, .inherited = inherited};
	presence->fd = lock_open(&sem->segment, sem->name);
	if (presence->fd < 0) {
		free(presence);
		return NULL;
	}
	presence->page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, presence->fd, 0);
	if (presence->page == MAP_FAILED) {
		lock_close(&sem->segment, presence->fd);
		free(presence);
		return NULL;
	}
	madvise(presence->page, PAGE_BYTES, MADV_DONTFORK); /* the descriptor alone is inherited */
	if (lock_take(&sem->segment, presence->fd, byte_of(owner)) < 0) {
		destroy(sem, presence);
		return NULL;
	}
	return presence;
}

uint64_t
presence_owner(struct tsem *sem, const struct identity *self)
{
	/* Acquire: pairs with the exchange below. */
	struct presence *newest = atomic_load_explicit(&sem->presence, memory_order_acquire);
	if (newest != NULL && byte_of(newest->owner) == self->owner)
		return newest->owner;
	if (!is_needed(sem, self))
		return self->owner;
	struct presence *mine = create(sem, self->owner, newest);
	if (mine == NULL)
		return self->owner;
	/* Sequentially consistent, though less would do. If it fails, another thread of this process was faster. */
	if (atomic_compare_exchange_strong(&sem->presence, &newest, mine))
		return mine->owner;
	destroy(sem, mine);
	return newest->owner;
}

uint64_t
presence_of_child(const struct tsem *sem, const struct identity *self, uint64_t parent)
{
	const struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	while (presence != NULL && presence->owner != parent)
		presence = presence->inherited;
	if (presence == NULL || lock_take(&sem->segment, presence->fd, byte_of(self->owner)) < 0)
		return self->owner;
	return self->owner | OWNER_LOCKED;
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
		const int taken = lock_is_taken(&sem->segment, sem->segment.fd, byte_of(owner));
		if (taken != 0)
			return taken < 0 ? LIVENESS_UNKNOWN : LIVENESS_ALIVE;
		if (LOAD_SEQ(&header->unlocks) == unlocks)
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

/*
 * Keeps the descriptor, for the rest of the process's life, if its locks protect a hold and the byte of this process is
 * not locked by another descriptor, too. An inherited descriptor may have the byte of a child that has adopted. The
 * descriptor and the mapping are lost on purpose.
 */
static void
close_all(struct tsem *sem)
{
	struct presence *presence = atomic_load_explicit(&sem->presence, memory_order_acquire);
	const bool needed = owns_a_record(sem);
	ADD_SEQ(&sem->segment.header->unlocks, 1); /* before the lock is gone: see presence_judge() */
	while (presence != NULL) {
		struct presence *inherited = presence->inherited;
		if (needed && lock_is_taken(&sem->segment, presence->fd, identity_owner()) <= 0)
			free(presence);
		else
			destroy(sem, presence);
		presence = inherited;
	}
}

void
presence_close(struct tsem *sem)
{
	static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;
	if (atomic_load_explicit(&sem->presence, memory_order_acquire) == NULL)
		return;
	/*
	 * Two threads that close handles of one semaphore must not each rely on the other's lock. The one that comes second
	 * keeps its descriptors, and so does a child that was forked while its parent had the mutex.
	 */
	if (pthread_mutex_trylock(&closing) != 0)
		return;
	close_all(sem);
	pthread_mutex_unlock(&closing);
}
