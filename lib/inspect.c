/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "identity.h"
#include "name.h"
#include "platform.h"
#include "protocol.h"
#include "recover.h"

/* ---- the counters ---- */

struct counters {
	uint64_t tickets;
	uint64_t grants;
	uint32_t capacity;
	uint64_t limit; /* E */
};

/* T, G and C of one instant: G and C are looked at again after T. */
static struct counters
read_counters(const struct tsem *sem)
{
	const struct header *header = sem->segment.header;
	struct counters c = {0};
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		c.grants = LOAD_SEQ(&header->grants);
		c.capacity = LOAD_SEQ(&header->capacity);
		c.tickets = LOAD_SEQ(&header->tickets);
		if (LOAD_SEQ(&header->grants) == c.grants && LOAD_SEQ(&header->capacity) == c.capacity)
			break;
	}
	c.limit = counter_add(word_counter(c.grants), c.capacity);
	return c;
}

/* ---- the records ---- */

enum role { ROLE_NONE, ROLE_HOLDER, ROLE_WAITER, ROLE_LEFT };

struct sighting {
	enum role role;
	uint64_t who;
	uint64_t ticket;
	uint32_t count;
};

/* What record `index` is at the instant of `c`; a record that changes while it is read is nobody's. */
static struct sighting
sight(const struct record *record, uint32_t index, const struct counters *c)
{
	struct sighting s = {.role = ROLE_NONE};
	s.who = LOAD_ACQ(&record->who);
	const uint64_t what = LOAD_ACQ(&record->what);
	s.count = LOAD_ACQ(&record->count);
	const bool taking = LOAD_ACQ(&record->use) == USE_TAKE;
	if (s.who == 0 || LOAD_ACQ(&record->what) != what || LOAD_ACQ(&record->who) != s.who)
		return s;

	s.ticket = what_value(what);
	bool queued = what_state(what) == STATE_QUEUED;
	if (what_state(what) == STATE_CLAIMED && word_tag(c->tickets) == tag_make(index, what_a(what))) {
		queued = true; /* has its ticket, and nobody has written it down yet */
		s.ticket = counter_add(word_counter(c->tickets), (UINT64_C(1) << 48) - s.count);
	}
	if (who_kind(s.who) == WHO_KIND_ORPHAN)
		s.role = queued && counter_diff(c->limit, s.ticket) < (int64_t)s.count ? ROLE_LEFT : ROLE_NONE;
	else if (queued && counter_diff(c->limit, s.ticket) < (int64_t)s.count)
		s.role = ROLE_WAITER;
	else if (queued || what_state(what) == STATE_HELD)
		s.role = taking ? ROLE_NONE : ROLE_HOLDER;
	else if (what_state(what) == STATE_RELEASING && word_tag(c->grants) != tag_make(index, what_b(what)))
		s.role = ROLE_HOLDER;
	return s;
}

static uint32_t
record_limit(const struct tsem *sem)
{
	const uint32_t reserved = LOAD_ACQ(&sem->segment.header->reserved);
	return reserved < RECORDS_MAX ? reserved : RECORDS_MAX;
}

uint32_t
inspect_position(struct tsem *sem, uint64_t ticket)
{
	const struct counters c = read_counters(sem);
	uint32_t position = 1;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const struct sighting s = sight(record, i, &c);
		position += s.role == ROLE_WAITER && counter_diff(s.ticket, ticket) < 0;
	}
	return position;
}

/* ---- stat ---- */

int
tsem_stat(tsem *sem, struct tsem_stat *stat)
{
	const struct header *header = sem->segment.header;
	struct stat st;
	if (stat->size != sizeof(*stat))
		return -EINVAL;
	int rc = segment_stat(&sem->segment, &st);
	if (rc < 0)
		return rc;

	const struct counters c = read_counters(sem);
	const int64_t room = counter_diff(c.limit, word_counter(c.tickets));
	const int64_t out = counter_diff(word_counter(c.tickets), word_counter(c.grants));
	uint64_t queued = 0;
	uint32_t waiting = 0;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const struct sighting s = sight(record, i, &c);
		if (s.role == ROLE_WAITER || s.role == ROLE_LEFT)
			queued += s.count;
		waiting += s.role == ROLE_WAITER;
	}

	const struct statistics *statistics = &header->statistics;
	*stat = (struct tsem_stat){
		.size = sizeof(*stat),
		.permits = sem->permits,
		.capacity = c.capacity,
		.max = sem->max,
		.waiting = waiting,
		.available = room > 0 ? (uint64_t)room : 0,
		.held = out > (int64_t)queued ? (uint64_t)out - queued : 0,
		.ticket = word_counter(c.tickets),
		.grant = word_counter(c.grants),
		.created = header->created,
		.uid = st.st_uid,
		.mode = st.st_mode & 07777,
		.contended = LOAD_RLX(&statistics->contended),
		.wait_total_ns = LOAD_RLX(&statistics->wait_total),
		.wait_longest_ns = LOAD_RLX(&statistics->wait_longest),
		.recovered = LOAD_RLX(&statistics->recovered),
		.timeouts = LOAD_RLX(&statistics->timeouts),
		.handed_over = LOAD_RLX(&statistics->handed_over),
	};
	memcpy(stat->uuid, sem->uuid, sizeof(stat->uuid));
	for (size_t i = 0; i < TSEM_HISTOGRAM_BINS; i++)
		stat->histogram[i] = LOAD_RLX(&statistics->histogram[i]);
	return 0;
}

/* ---- owners ---- */

/* What is sorted: the distance is from a fixed point, so that nonsense in a segment has an order, too. */
struct seen {
	int64_t distance;
	struct tsem_owner owner;
};

static int
by_role_and_ticket(const void *a, const void *b)
{
	const struct seen *x = a;
	const struct seen *y = b;
	if ((x->owner.position == 0) != (y->owner.position == 0))
		return x->owner.position == 0 ? -1 : 1;
	return (x->distance > y->distance) - (x->distance < y->distance);
}

static struct tsem_owner
describe(const struct tsem *sem, const struct record *record, const struct sighting *s)
{
	struct identity self;
	const uint64_t now = platform.now();
	const uint64_t since = LOAD_ACQ(&record->since);
	const uint64_t until = LOAD_ACQ(&record->until);
	struct tsem_owner owner = {
		.size = sizeof(owner),
		.pid = (pid_t)who_pid(s->who),
		.uid = LOAD_ACQ(&record->uid),
		.count = s->count,
		.position = s->role == ROLE_WAITER,
		.alive = (enum tsem_alive)owner_liveness(sem, record, s->who),
		.owned = LOAD_ACQ(&record->use) != USE_TAKE,
		.handed_over = who_kind(s->who) == WHO_KIND_HANDED,
		.foreign_pid = !identity_get(&self) || self.pid_ns == 0 || LOAD_ACQ(&record->pid_ns) != self.pid_ns,
		.ticket = s->ticket,
		.elapsed_ns = now > since ? now - since : 0, /* the clocks of time namespaces differ */
		.remaining_ns = -1,
	};
	if (s->role == ROLE_WAITER && until != 0)
		owner.remaining_ns = until <= now ? 0 : until - now > INT64_MAX ? INT64_MAX : (int64_t)(until - now);
	return owner;
}

/* Returns how many there are. */
static size_t
collect_owners(struct tsem *sem, struct seen *all, size_t room)
{
	const struct counters c = read_counters(sem);
	const struct record *record;
	size_t n = 0;
	for (uint32_t i = 0; n < room && (record = record_at(sem, i)) != NULL; i++) {
		const struct sighting s = sight(record, i, &c);
		if (s.role != ROLE_HOLDER && s.role != ROLE_WAITER)
			continue;
		all[n].distance = counter_diff(s.ticket, word_counter(c.grants));
		all[n++].owner = describe(sem, record, &s);
	}
	return n;
}

int
tsem_owners(tsem *sem, tsem_owner_fn *each, void *arg)
{
	const size_t room = record_limit(sem);
	struct seen *all = calloc(room, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	const size_t n = collect_owners(sem, all, room);
	qsort(all, n, sizeof(*all), by_role_and_ticket);

	int rc = 0;
	uint32_t position = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (all[i].owner.position != 0)
			all[i].owner.position = ++position;
		rc = each(&all[i].owner, arg);
	}
	free(all);
	return rc;
}

/* ---- list ---- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **items;
	size_t n;
	size_t room;
};

static int
add_name(struct names *names, const char *name)
{
	if (names->n == names->room) {
		const size_t room = names->room == 0 ? 64 : names->room * 2;
		char **items = realloc(names->items, room * sizeof(*items));
		if (items == NULL)
			return -ENOMEM;
		names->items = items;
		names->room = room;
	}
	char *copy = strdup(name);
	if (copy == NULL)
		return -ENOMEM;
	names->items[names->n++] = copy;
	return 0;
}

static int
collect_names(struct names *names)
{
	DIR *directory = opendir(SHM_DIRECTORY);
	if (directory == NULL)
		return -errno;
	int rc = 0;
	const struct dirent *entry;
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		const char *name = name_from_file(entry->d_name);
		if (name != NULL)
			rc = add_name(names, name);
	}
	closedir(directory);
	return rc;
}

int
tsem_list(tsem_name_fn *each, void *arg)
{
	struct names names = {0};
	int rc = collect_names(&names);
	if (rc == 0 && names.n > 0)
		qsort(names.items, names.n, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.n; i++) {
		if (rc == 0)
			rc = each(names.items[i], arg);
		free(names.items[i]);
	}
	free(names.items);
	return rc;
}
