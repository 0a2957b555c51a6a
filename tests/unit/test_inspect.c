/* SPDX-License-Identifier: MIT */
/*
 * The list of holders while the table of records grows. The peer acts inside calloc(), which the linker wraps: it
 * makes the room for the list.
 */
#include "fixture.h"

#include "protocol/census.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool peer_comes;
static uint32_t last; /* the number of records before the peer comes */

void *
__wrap_calloc(size_t n, size_t size)
{
	if (peer_comes && size == sizeof(struct sighting)) {
		peer_comes = false;
		assert_int_equal(record_grow(sem), 0);
		put_record(sem, last, UNUSED_PROCESS, STATE_HELD, 0, last, 1);
		set_counters(sem, last + 1, 0);
	}
	return __real_calloc(n, size);
}

static int
count(const struct tsem_owner *owner, void *arg)
{
	*(uint32_t *)arg += owner->count;
	return 0;
}

TEST_BETWEEN(NULL, tear_down, the_list_has_a_holder_whose_record_came_after_the_room_was_made)
{
	uint32_t listed = 0;
	struct tsem_stat stat = {.size = sizeof(stat)};
	begin(1000);
	last = LOAD_SEQ(&sem->segment.header->reserved);
	for (uint32_t i = 0; i < last; i++)
		put_record(sem, i, UNUSED_PROCESS, STATE_HELD, 0, i, 1);
	set_counters(sem, last, 0);
	peer_comes = true;
	assert_int_equal(tsem_snapshot(sem, &stat, count, &listed), 0);
	assert_int_equal(stat.held, last + 1);
	assert_int_equal(listed, last + 1);
}

static int
store_liveness(const struct tsem_owner *owner, void *arg)
{
	*(enum tsem_alive *)arg = owner->alive;
	return 0;
}

static enum tsem_alive
liveness_seen_by(tsem *handle)
{
	enum tsem_alive alive = TSEM_ALIVE;
	assert_int_equal(tsem_owners(handle, store_liveness, &alive), 0);
	return alive;
}

static void
another_owns_the_record(void)
{
	put_record(sem, RECORD, owner_process(1, 1), STATE_HELD, 0, 100 + COUNT, COUNT);
}

TEST_RECOVERY(an_owner_is_not_dead_by_what_the_next_one_has_written)
{
	put_the_record(UNUSED_PROCESS, STATE_HELD, 100);
	assert_int_equal(liveness_seen_by(sem), TSEM_DEAD);
	during_judgement = another_owns_the_record;
	assert_int_equal(liveness_seen_by(sem), TSEM_UNKNOWN);
}

static bool closes;

static int
owner_may_close(const struct process_id *owner)
{
	(void)owner;
	if (closes)
		ADD_SEQ(&sem->segment.header->unlocks, 1);
	return LIVENESS_UNKNOWN;
}

/* No process has the lock of this owner. */
TEST_RECOVERY(an_owner_that_closes_behind_the_copy_is_not_dead)
{
	tsem *reader;
	assert_int_equal(tsem_open(sem_name, TSEM_READ_ONLY, &reader), 0);
	platform.judge = owner_may_close;
	put_the_record(UNUSED_PROCESS | OWNER_LOCKED, STATE_HELD, 100);
	closes = false;
	assert_int_equal(liveness_seen_by(reader), TSEM_DEAD);
	closes = true;
	assert_int_equal(liveness_seen_by(reader), TSEM_UNKNOWN);
	tsem_close(reader);
}
