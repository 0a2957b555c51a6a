/* SPDX-License-Identifier: MIT */
#include "protocol/fast.h"

#include <sys/mman.h>

#include "system/identity.h"
#include "system/platform.h"

#define CACHE_BYTES (CACHE_ENTRIES * sizeof(struct cached))

struct cached cache_disabled[CACHE_ENTRIES];

/* The kernel clears the entries in a forked child, so a cached record is always the calling process's own. */
bool
cache_allocate(struct tsem *sem)
{
	struct cached *entries = mmap(NULL, CACHE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (entries == MAP_FAILED)
		return false;
	if (!clear_on_fork(entries, CACHE_BYTES)) {
		munmap(entries, CACHE_BYTES);
		entries = cache_disabled;
	}
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		sem->cache[i] = &entries[i];
	return true;
}

void
cache_free(struct tsem *sem)
{
	if (sem->cache[0] != cache_disabled)
		munmap(sem->cache[0], CACHE_BYTES);
}

/*
 * An empty entry has a record that is never HELD and that no process owns, so that the fast path needs no other check.
 */
void
cache_clear(struct cached *entry)
{
	static struct record none;
	entry->record = &none;
	entry->owner = UINT64_MAX;
	entry->claimed = STATE_HELD;
	entry->hold = (struct hold){0};
}

void
cache_forget(struct cached *entry, const struct record *record)
{
	if (entry != NULL && entry->record == record)
		cache_clear(entry);
}

struct cached *
cache_take(struct tsem *sem)
{
	const uintptr_t self = thread_number();
	struct cached *entry = cache_place(sem, self);
	const uintptr_t owner = LOAD_RLX(&entry->thread);
	uintptr_t none = 0;
	if (owner == self)
		return LOAD_RLX(&entry->is_busy) ? NULL : entry;
	if (owner != 0 || sem->cache[0] == cache_disabled || !atomic_compare_exchange_strong(&entry->thread, &none, self))
		return NULL;
	cache_clear(entry);
	return entry;
}

/*
 * Remembers the counters, if the next hold may use the fast path at all: the record was the last to move T, and there
 * is room for the next hold. T is read before E, as in arrive(), so the room belongs to that T. `count` is not above C,
 * or the comparison of C would not show the semaphore's removal.
 */
static void
store_counters(struct cached *entry)
{
	struct header *header = entry->header;
	entry->tickets = TAG_NONE - 1; /* no T is equal to this: it would be no record's tag */
	const uint64_t tickets = LOAD_SEQ(&header->tickets);
	if (counter_tag(tickets) != tag_make(entry->hold.record, !state_arrival_phase(entry->claimed)))
		return;
	const uint64_t grants = LOAD_SEQ(&header->grants);
	const uint32_t capacity = LOAD_SEQ(&header->capacity);
	const uint32_t count = LOAD_RLX(&entry->record->count);
	const uint64_t limit = counter_add(counter_value(grants), capacity);
	if (count > capacity || counter_diff(limit, counter_value(tickets)) < (int64_t)count)
		return;
	entry->tickets = tickets;
	/* Both have this record's number. Both phases flip once for each use, so this stays the same. */
	entry->tags_xor = state_arrival_phase(entry->claimed) ^ state_release_phase(entry->claimed) ^ 1U;
	entry->capacity_word = capacity_word_make(capacity);
	entry->count = count;
	entry->advance = counter_word_make(count, 0);
}

void
cache_store(struct cached *entry, struct tsem *sem, const struct claim *claim, uint64_t claimed)
{
	entry->record = claim->record;
	entry->header = sem->segment.header;
	entry->hold = (struct hold){.sem = (uint64_t)(uintptr_t)sem, .record = claim->index};
	entry->owner = claim->owner;
	entry->second = 0;
	entry->claimed = claimed;
	store_counters(entry);
}

/* Not inline, so that fast_acquired() saves no registers. */
static __attribute__((noinline)) int
stamp_anew(struct cached *entry, uint64_t second)
{
	entry->second = second;
	STORE_RLX(&entry->record->since, platform.coarse_now());
	cache_end(entry);
	return 0;
}

int
fast_acquired(struct cached *entry)
{
	const uint64_t second = (uint64_t)platform.second(NULL);
	if (__builtin_expect(entry->second != second, 0))
		return stamp_anew(entry, second);
	cache_end(entry);
	return 0;
}
