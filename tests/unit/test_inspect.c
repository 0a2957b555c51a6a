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
