/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the words of a semaphore ---- */

void
set_counters(tsem *s, uint64_t ticket, uint64_t grant)
{
	STORE_SEQ(&s->segment.header->tickets, counter_word_make(ticket & COUNTER_MASK, TAG_NONE));
	STORE_SEQ(&s->segment.header->grants, counter_word_make(grant & COUNTER_MASK, TAG_NONE));
}

uint64_t
tickets_of(tsem *s)
{
	return counter_value(LOAD_SEQ(&s->segment.header->tickets));
}

uint64_t
grants_of(tsem *s)
{
	return counter_value(LOAD_SEQ(&s->segment.header->grants));
}

uint64_t
state_of(tsem *s, uint32_t index)
{
	return LOAD_SEQ(&s->segment.records[index].state);
}

void
put_record(tsem *s, uint32_t index, uint64_t owner, enum state_kind state, uint64_t phases, uint64_t value,
           uint32_t count)
{
	struct record *record = &s->segment.records[index];
	STORE_SEQ(&record->owner, owner);
	STORE_SEQ(&record->gen, 7);
	STORE_SEQ(&record->count, count);
	STORE_SEQ(&record->state, state_next(phases, state, value));
}

uint32_t
records_in_use(tsem *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < LOAD_SEQ(&s->segment.reserved); i++)
		n += state_kind(state_of(s, i)) > STATE_CLAIMED;
	return n;
}

uint32_t
records_owned(tsem *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < LOAD_SEQ(&s->segment.reserved); i++)
		n += LOAD_SEQ(&s->segment.records[i].owner) != 0;
	return n;
}

/* ---- the semaphore under test ---- */

tsem *sem;
const char *sem_name;
uint64_t began;

_Atomic uint32_t *
word_of(uint64_t ticket)
{
	return ticket_word(sem, ticket & COUNTER_MASK);
}

static struct platform real_platform; /* while a situation lasts */
static void *memory;                  /* of an embedded semaphore */
static size_t memory_size;

void
fake_is_stuck(uint64_t sleeps)
{
	fail_msg("sleeps for ever, or too often: %lu times", (unsigned long)sleeps);
	abort(); /* fail_msg() does not return */
}

static void
begin_platform(void)
{
	end();
	real_platform = platform;
}

void
begin_limited(uint32_t permits, uint32_t max)
{
	begin_platform();
	sem_name = fresh_name();
	sem = new_semaphore_named(sem_name, permits, max);
}

void
begin(uint32_t permits)
{
	begin_limited(permits, 0);
}

void
begin_fake(uint32_t permits)
{
	begin(permits);
	fake_begin();
	began = fake.clock;
}

void
begin_held(uint32_t permits)
{
	begin_fake(permits);
	set_counters(sem, permits, 0);
	put_record(sem, 40, UNUSED_PROCESS, STATE_HELD, 0, 0, permits);
}

void
begin_embedded(uint32_t participants, uint32_t max)
{
	begin_platform();
	const struct tsem_config config = {.size = sizeof(config), .permits = max};
	memory_size = tsem_size_at(participants);
	memory = shared_memory(memory_size);
	assert_int_equal(tsem_init_at(memory, memory_size, &config, &sem), 0);
}

void
end(void)
{
	if (sem == NULL)
		return;
	platform = real_platform;
	tsem_close(sem);
	sem = NULL;
	if (memory != NULL)
		munmap(memory, memory_size);
	memory = NULL;
}

int
tear_down(void **state)
{
	(void)state;
	end();
	return 0;
}

/* ---- one permit, held by another process that lives, and a fake platform ---- */

int
set_up_held(void **state)
{
	(void)state;
	begin_held(1);
	return 0;
}

struct timespec
clock_after(uint64_t ms)
{
	const uint64_t ns = began + ms * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND), .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

void
peer_has_looked(uint32_t pid_ns, uint64_t at)
{
	STORE_SEQ(&sem->segment.header->looks[pid_ns % LOOKS], look_make(pid_ns, (uint32_t)(at / NS_PER_MS)));
}

void
peer_posts(void)
{
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
}

void
peer_posts_and_dies_before_waking(void)
{
	ADD_SEQ(&sem->segment.header->grants, counter_word_make(1, 0));
}

void
peer_cancels_and_dies_before_waking(void)
{
	ADD_SEQ(&sem->segment.header->cancels, 1);
}

/* ---- two permits, and a record that this thread has cached for one permit ---- */

int
set_up_cached(void **state)
{
	(void)state;
	begin(2);
	use_one_permit(); /* on the slow path */
	use_one_permit(); /* on the fast path */
	if (sem->cache[0] != cache_disabled)
		assert_int_equal(cache_entry(sem)->tickets, LOAD_SEQ(&sem->segment.header->tickets));
	return 0;
}

void
skip_without_cache(void)
{
	if (sem->cache[0] == cache_disabled)
		SKIP("no cache: the kernel, or an emulator, clears no memory in a forked child");
}

uint32_t
use_one_permit(void)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const uint32_t record = hold_inside(&hold)->record;
	assert_int_equal(tsem_release(&hold), 0);
	return record;
}

/* ---- three permits, one record, and an injected judge ---- */

void (*during_judgement)(void);
_Atomic bool unused_process_is_alive;

static int
judge_injected(const struct process_id *owner)
{
	void (*action)(void) = during_judgement;
	if (action != NULL) {
		during_judgement = NULL; /* not written to while threads race */
		action();
	}
	return owner->pid == UNUSED_PID && !unused_process_is_alive ? LIVENESS_DEAD : LIVENESS_ALIVE;
}

int
set_up_recovery(void **state)
{
	(void)state;
	begin(3);
	set_counters(sem, 100 + COUNT, 100);
	during_judgement = NULL;
	unused_process_is_alive = false;
	platform.judge = judge_injected;
	return 0;
}

void
put_the_record(uint64_t owner, enum state_kind state, uint64_t value)
{
	put_record(sem, RECORD, owner, state, 0, value, COUNT);
}

uint32_t
recover_the_record(void)
{
	uint32_t permits = 0;
	recover_record(sem, RECORD, &permits);
	return permits;
}

uint64_t
owner_of_the_record(void)
{
	return LOAD_SEQ(&sem->segment.records[RECORD].owner);
}

void
expect_freed(uint64_t phases, uint64_t moved)
{
	assert_int_equal(owner_of_the_record(), 0);
	assert_int_equal(state_of(sem, RECORD), state_next(phases, STATE_IDLE, 8));
	assert_int_equal(grants_of(sem), 100 + moved);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

void
expect_untouched(uint64_t owner, uint64_t state)
{
	assert_int_equal(owner_of_the_record(), owner);
	assert_int_equal(state_of(sem, RECORD), state);
	assert_int_equal(grants_of(sem), 100);
	assert_int_equal(tickets_of(sem), 100 + COUNT);
}

/* ---- a full table of records ---- */

uint32_t scans;

uint32_t
begin_full(uint32_t participants, uint32_t max)
{
	begin_embedded(participants, max);
	const uint32_t records = LOAD_SEQ(&sem->segment.reserved);
	STORE_SEQ(&sem->segment.header->reserved, records + 1);
	scans = 0;
	return records;
}

/* The linker puts it in place of segment_reserve(). */
int
__wrap_segment_reserve(struct segment *segment, uint32_t n)
{
	(void)segment;
	(void)n;
	scans++;
	return -EUSERS;
}

void
use_up_all_records(uint64_t owner)
{
	assert_int_equal(segment_reserve(&sem->segment, RECORDS_MAX), 0);
	STORE_SEQ(&sem->segment.header->reserved, RECORDS_MAX);
	for (uint32_t i = 0; i < RECORDS_MAX; i++) {
		STORE_SEQ(&sem->segment.records[i].owner, owner);
		STORE_SEQ(&sem->segment.records[i].state, state_next(0, STATE_HELD, 0));
	}
}

/* ---- segments, without a semaphore ---- */

const struct segment_config three_of_nine = {.permits = 3, .max = 9, .mode = 0600};

struct segment
create_segment(const char *name)
{
	struct segment segment;
	assert_int_equal(segment_create(name, &three_of_nine, &segment), 0);
	return segment;
}

struct stat
stat_of_file(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(file_of(name), &st), 0);
	return st;
}

off_t
in_pages(off_t bytes)
{
	const off_t page = sysconf(_SC_PAGESIZE);
	return (bytes + page - 1) / page * page;
}

void
expect_refused(const char *name, int error)
{
	struct segment segment;
	assert_int_equal(segment_attach(name, 0, &segment), error);
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &segment), error);
}
