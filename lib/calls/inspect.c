/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cancellation.h"
#include "protocol/census.h"
#include "protocol/protocol.h"
#include "records/owner.h"
#include "system/extensible.h"
#include "system/identity.h"
#include "system/inner_process.h"
#include "system/platform.h"

/* ---- the source ---- */

/* The semaphore itself; or for a read-only handle, which maps nothing, a copy of this call's own. */
struct source {
	struct tsem *sem;
	struct tsem copy;
};

static int
source_begin(struct source *source, struct tsem *sem)
{
	source->sem = sem;
	if (sem->segment.writable)
		return 0;
	source->sem = &source->copy;
	source->copy = (struct tsem){.permits = sem->permits, .max = sem->max, .bounded = sem->bounded};
	memcpy(source->copy.uuid, sem->uuid, sizeof(sem->uuid));
	int rc = segment_copy(&sem->segment, &source->copy.segment);
	if (rc < 0)
		return rc;
	/* The locks of owners belong to the file. */
	source->copy.segment.fd = sem->segment.fd;
	source->copy.segment.device = sem->segment.device;
	source->copy.segment.inode = sem->segment.inode;
	return 0;
}

static void
source_end(struct source *source)
{
	if (source->sem == &source->copy)
		segment_free_copy(&source->copy.segment);
}

/* ---- stat ---- */

_Static_assert(TSEM_HISTOGRAM_BINS == HISTOGRAM_BINS, "one histogram is copied into the other");

/*
 * E - T counts permits that were posted beyond C as free, and C - held does not. Orphans in front use permits of E - T
 * until they are skipped, and none of C - held.
 */
static int64_t
free_at_front(const struct census *census, uint64_t held)
{
	const struct counters *c = &census->c;
	const uint64_t front = census->first_count > 0 ? census->first_ticket : counter_value(c->tickets);
	const int64_t by_ticket = counter_diff(c->limit, front);
	const int64_t by_capacity = (int64_t)c->capacity - (int64_t)held;
	return by_ticket > by_capacity ? by_ticket : by_capacity;
}

/* 0 while processes wait for more. */
static uint64_t
available_at(const struct counters *c)
{
	const int64_t room = counter_diff(c->limit, counter_value(c->tickets));
	return room > 0 ? (uint64_t)room : 0;
}

static void
fill_stat(const struct tsem *sem, const struct census *census, const struct stat *st, struct tsem_stat *theirs)
{
	const struct header *header = sem->segment.header;
	const struct counters *c = &census->c;
	const int64_t out = counter_diff(counter_value(c->tickets), counter_value(c->grants));
	/* Each permit posted beyond those taken makes `out` one too low. */
	const int64_t taken = out - (int64_t)census->queued;
	const struct statistics *statistics = &header->statistics;
	struct tsem_stat stat = {
		.permits = sem->permits,
		.capacity = c->capacity,
		.max = sem->max,
		.waiting = census->waiting,
		.available = available_at(c),
		.held = taken > (int64_t)census->held ? (uint64_t)taken : census->held,
		.ticket = counter_value(c->tickets),
		.grant = counter_value(c->grants),
		.created = header->created,
		.uid = st->st_uid,
		.mode = st->st_mode & 07777,
		.contended = LOAD_RLX(&statistics->contended),
		.wait_total_ns = LOAD_RLX(&statistics->wait_total),
		.wait_longest_ns = LOAD_RLX(&statistics->wait_longest),
		.recovered = LOAD_RLX(&statistics->recovered),
		.timeouts = LOAD_RLX(&statistics->timeouts),
		.handed_over = LOAD_RLX(&statistics->handed_over),
		.excess = taken < (int64_t)census->held ? (uint64_t)((int64_t)census->held - taken) : 0,
		.gid = st->st_gid,
		.flags = sem->bounded ? TSEM_BOUNDED : 0,
	};
	stat.first_wanted = census->first_count;
	stat.first_free = free_at_front(census, stat.held);
	memcpy(stat.uuid, sem->uuid, sizeof(stat.uuid));
	for (size_t i = 0; i < HISTOGRAM_BINS; i++)
		stat.histogram[i] = LOAD_RLX(&statistics->histogram[i]);
	extensible_write(theirs, &stat, sizeof(stat));
}

/* A part of a stat that can fail, before anything is filled in. */
static int
begin_stat(const struct tsem *sem, const struct tsem_stat *stat, struct stat *st)
{
	const bool known = extensible_is_known(stat, SIZE_UP_TO(struct tsem_stat, histogram));
	return known ? segment_stat(&sem->segment, st) : -EINVAL;
}

int
tsem_stat(tsem *sem, struct tsem_stat *stat)
{
	struct census census = {0};
	struct stat st;
	struct source source;
	int rc = begin_stat(sem, stat, &st);
	if (rc < 0 || (rc = source_begin(&source, sem)) < 0)
		return rc;
	take_census(source.sem, &census);
	fill_stat(source.sem, &census, &st, stat);
	source_end(&source);
	return 0;
}

int
tsem_available(tsem *sem, uint64_t *available)
{
	struct source source;
	int rc = source_begin(&source, sem);
	if (rc < 0)
		return rc;
	const struct counters c = census_counters(source.sem);
	*available = available_at(&c);
	source_end(&source);
	return 0;
}

/* ---- owners ---- */

static int
by_role_and_ticket(const void *a, const void *b)
{
	const struct sighting *x = a;
	const struct sighting *y = b;
	if (x->role != y->role)
		return x->role == ROLE_HOLDER ? -1 : 1;
	return (x->distance > y->distance) - (x->distance < y->distance);
}

_Static_assert((int)TSEM_DEAD == (int)LIVENESS_DEAD, "owner_liveness() is cast");
_Static_assert((int)TSEM_ALIVE == (int)LIVENESS_ALIVE, "owner_liveness() is cast");
_Static_assert((int)TSEM_UNKNOWN == (int)LIVENESS_UNKNOWN, "owner_liveness() is cast");

/* DEAD means certainly dead: what the record says of the owner's start may be that of its next use. */
static enum tsem_alive
judge(const struct tsem *sem, const struct sighting *s)
{
	const struct record *record = &sem->segment.records[s->index];
	const enum liveness liveness = owner_liveness(sem, record, s->owner);
	const bool has_changed = liveness == LIVENESS_DEAD && LOAD_ACQ(&record->owner) != s->owner;
	return has_changed ? TSEM_UNKNOWN : (enum tsem_alive)liveness;
}

/*
 * Judges the owner only now: that needs system calls, and a caller that stops after the holders does not pay for more
 * than one waiter.
 */
static struct tsem_owner
describe(const struct tsem *sem, const struct sighting *s)
{
	const uint32_t our_pid_ns = identity_pid_ns();
	const uint64_t now = platform.now();
	struct tsem_owner owner = {
		.size = sizeof(owner),
		.pid = (pid_t)owner_pid(s->owner),
		.uid = s->uid,
		.count = s->count,
		.alive = judge(sem, s),
		.owned = s->use != USE_TAKE,
		.handed_over = owner_kind(s->owner) == OWNER_KIND_HANDED,
		.foreign_pid = our_pid_ns == 0 || s->pid_ns != our_pid_ns,
		.ticket = s->ticket,
		.elapsed_ns = now > s->since ? now - s->since : 0, /* the clocks of time namespaces differ */
		.remaining_ns = -1,
		.pid_ns = s->pid_ns,
	};
	owner.pid_here = owner.foreign_pid ? 0 : owner.pid;
	if (s->role == ROLE_WAITER && s->until != 0)
		owner.remaining_ns = s->until <= now ? 0 : s->until - now > INT64_MAX ? INT64_MAX : (int64_t)(s->until - now);
	return owner;
}

/* Fills `own`, into which the owner points. `slots`: all of the segment. */
static void
add_slots(struct tsem_owner *owner, uint32_t record, const uint64_t slots[SLOTS_MAX], uint32_t own[SLOTS_MAX])
{
	owner->slots = own;
	for (uint32_t i = 0; owner->position == 0 && i < SLOTS_MAX; i++) {
		if (slots[i] == slot_make(owner->ticket, record))
			own[owner->slot_count++] = i;
	}
	owner->slot = owner->slot_count > 0 ? own[0] : TSEM_NO_SLOT;
}

static int
call_each(struct tsem *sem, const struct census *census, tsem_owner_fn *each, void *arg)
{
	NO_CANCELLATION;
	uint64_t slots[SLOTS_MAX]; /* read once, so that no two owners have the same one */
	uint32_t own[SLOTS_MAX];
	struct inner_processes inner = {0};
	bool inner_is_read = false;
	for (uint32_t i = 0; i < SLOTS_MAX; i++)
		slots[i] = LOAD_ACQ(&sem->segment.slots[i]);
	int rc = 0;
	uint32_t position = 0;
	for (size_t i = 0; i < census->n && rc == 0; i++) {
		const struct sighting *s = &census->seen[i];
		struct tsem_owner owner = describe(sem, s);
		if (owner.foreign_pid) {
			if (!inner_is_read)
				inner = inner_processes_read();
			inner_is_read = true;
			const struct process_id id = owner_process_id(&sem->segment.records[s->index], s->owner);
			enum liveness verdict = (enum liveness)owner.alive;
			owner.pid_here = inner_process_judge(&inner, &id, &verdict);
			owner.alive = (enum tsem_alive)verdict;
		}
		if (s->role == ROLE_WAITER)
			owner.position = ++position;
		add_slots(&owner, s->index, slots, own);
		rc = each(&owner, arg);
	}
	inner_processes_free(&inner);
	return rc;
}

static int
inspect_all(struct tsem *sem, const struct stat *st, struct tsem_stat *stat, tsem_owner_fn *each, void *arg)
{
	struct census census = {.seen = NULL};
	uint32_t limit = record_limit(sem);
	do { /* again if the table has grown: `seen` may be too small */
		free(census.seen);
		census.room = limit;
		census.seen = calloc(census.room + 1, sizeof(*census.seen));
		if (census.seen == NULL)
			return -ENOMEM;
		take_census(sem, &census);
		limit = record_limit(sem);
	} while (limit > census.room);
	qsort(census.seen, census.n, sizeof(*census.seen), by_role_and_ticket);
	if (stat != NULL)
		fill_stat(sem, &census, st, stat);
	const int rc = call_each(sem, &census, each, arg);
	free(census.seen);
	return rc;
}

/* Stat and owners, or with `stat` NULL the owners alone. */
static int
inspect(struct tsem *sem, const struct stat *st, struct tsem_stat *stat, tsem_owner_fn *each, void *arg)
{
	struct source source;
	int rc = source_begin(&source, sem);
	if (rc < 0)
		return rc;
	rc = inspect_all(source.sem, st, stat, each, arg);
	source_end(&source);
	return rc;
}

int
tsem_owners(tsem *sem, tsem_owner_fn *each, void *arg)
{
	return inspect(sem, NULL, NULL, each, arg);
}

int
tsem_snapshot(tsem *sem, struct tsem_stat *stat, tsem_owner_fn *each, void *arg)
{
	struct stat st;
	int rc = begin_stat(sem, stat, &st);
	return rc < 0 ? rc : inspect(sem, &st, stat, each, arg);
}
