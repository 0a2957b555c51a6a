/* SPDX-License-Identifier: MIT */
/* Why a request has to wait, from counts and owners that a test can make up. */
#include "support.h"

#include <string.h>

#include "reason.h"

/* The counters are modulo 2^48. Here they are about to wrap. */
#define BASE ((UINT64_C(1) << 48) - 5)
#define MASK ((UINT64_C(1) << 48) - 1)

struct situation {
	const char *what;
	enum reason_kind kind;
	uint64_t free;
	uint32_t permits, capacity;
	uint32_t posted, drawn; /* what the counters have moved by */
	uint64_t available, held;
	struct {
		uint32_t count;
		enum tsem_alive alive;
		bool foreign;
	} holders[2];
	uint32_t wanted; /* by the only waiter, the last ticket; 0: there is none */
	uint32_t max;
	unsigned flags;
};

static struct reason
reason_in(const struct situation *s)
{
	struct reason reason = {.kind = REASON_NONE};
	const struct tsem_stat stat = {
		.size = sizeof(stat),
		.permits = s->permits,
		.capacity = s->capacity,
		.max = s->max,
		.flags = s->flags,
		.available = s->available,
		.held = s->held,
		.waiting = s->wanted > 0,
		.ticket = (BASE + s->drawn) & MASK,
		.grant = (BASE + s->posted) & MASK,
	};
	for (size_t i = 0; i < 2 && s->holders[i].count > 0; i++) {
		const struct tsem_owner owner = {
			.size = sizeof(owner),
			.pid = (pid_t)i + 1000000000, /* no process has it */
			.count = s->holders[i].count,
			.alive = s->holders[i].alive,
			.foreign_pid = s->holders[i].foreign,
			.ticket = (BASE + i) & MASK,
		};
		assert_false(reason_note(&reason, &owner));
	}
	const struct tsem_owner waiter = {
		.size = sizeof(waiter),
		.count = s->wanted,
		.position = 1,
		.ticket = (BASE + s->drawn - s->wanted) & MASK,
	};
	if (s->wanted > 0)
		assert_true(reason_note(&reason, &waiter));
	reason_conclude(&reason, &stat, 1);
	return reason;
}

static void
each_kind(void **state)
{
	(void)state;
	static const struct situation situations[] = {
		{"idle", REASON_NONE, 2, 2, 2, 0, 0, 2, 0, {{0}}, 0, 0, 0},
		{"drained", REASON_DRAINED, 0, 2, 0, 0, 0, 0, 0, {{0}}, 0, 0, 0},
		{"drained, held", REASON_DRAINED, 0, 2, 0, 0, 2, 0, 1, {{1, TSEM_ALIVE, false}}, 1, 0, 0},
		{"drained, dead", REASON_DRAINED, 0, 2, 0, 0, 2, 0, 1, {{1, TSEM_DEAD, false}}, 1, 0, 0},
		{"lowered", REASON_CAPACITY, 1, 3, 1, 0, 3, 0, 0, {{0}}, 3, 0, 0},
		{"lowered, held", REASON_CAPACITY, 0, 3, 1, 0, 4, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 0, 0},
		{"lowered, but enough", REASON_HELD, 0, 3, 1, 0, 3, 0, 2, {{2, TSEM_ALIVE, false}}, 1, 0, 0},
		{"none yet", REASON_UNPOSTED, 0, 0, 0, 0, 1, 0, 0, {{0}}, 1, 0, 0},
		{"too few yet", REASON_UNPOSTED, 2, 0, 0, 2, 3, 0, 0, {{0}}, 3, 0, 0},
		{"held, but too few yet", REASON_UNPOSTED, 0, 1, 1, 0, 4, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 3, 0},
		{"lowered again to the permits", REASON_CAPACITY, 2, 2, 2, 0, 5, 2, 0, {{0}}, 5, 0, 0},
		{"lowered again, bounded", REASON_CAPACITY, 2, 2, 2, 0, 5, 2, 0, {{0}}, 5, 0, TSEM_BOUNDED},
		{"too few yet, more than the maximum", REASON_CAPACITY, 0, 1, 1, 0, 4, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 2, 0},
		{"drained below the maximum", REASON_DRAINED, 0, 2, 0, 0, 1, 0, 0, {{0}}, 1, 3, 0},
		{"taken", REASON_TAKEN, 0, 2, 2, 0, 3, 0, 2, {{0}}, 1, 0, 0},
		{"taken, no waiter", REASON_TAKEN, 0, 2, 2, 0, 2, 0, 2, {{0}}, 0, 0, 0},
		{"taken and held", REASON_HELD, 0, 2, 2, 0, 3, 0, 2, {{1, TSEM_ALIVE, false}}, 1, 0, 0},
		{"taken and held, all wanted", REASON_TAKEN, 0, 2, 2, 0, 4, 0, 2, {{1, TSEM_ALIVE, false}}, 2, 0, 0},
		{"dead", REASON_DEAD, 0, 2, 2, 0, 3, 0, 2, {{1, TSEM_ALIVE, false}, {1, TSEM_DEAD, false}}, 1, 0, 0},
		{"first", REASON_FIRST, 1, 3, 3, 0, 4, 0, 2, {{2, TSEM_ALIVE, false}}, 2, 0, 0},
		{"first, elsewhere", REASON_FIRST, 1, 3, 3, 0, 4, 0, 2, {{2, TSEM_UNKNOWN, true}}, 2, 0, 0},
		{"elsewhere",
	     REASON_CONTAINER,
	     0,
	     2,
	     2,
	     0,
	     3,
	     0,
	     2,
	     {{1, TSEM_ALIVE, false}, {1, TSEM_UNKNOWN, true}},
	     1,
	     0,
	     0},
		{"held", REASON_HELD, 0, 2, 2, 0, 3, 0, 2, {{1, TSEM_ALIVE, false}, {1, TSEM_ALIVE, false}}, 1, 0, 0},
		{"beyond the wrap", REASON_HELD, 0, 9, 9, 0, 10, 0, 9, {{9, TSEM_ALIVE, false}}, 1, 0, 0},
	};
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
		const struct situation *s = &situations[i];
		const struct reason reason = reason_in(s);
		if (reason.kind != s->kind || reason.free != s->free)
			fail_msg("%s: %s, %llu free; should be %s, %llu free", s->what, reason_word(reason.kind),
			         (unsigned long long)reason.free, reason_word(s->kind), (unsigned long long)s->free);
	}
}

/* A waiter that has left the queue asks for what it wanted. */
static void
without_a_waiter_the_reason_is_of_the_readers_request(void **state)
{
	(void)state;
	const struct tsem_stat idle = {
		.size = sizeof(idle), .permits = 3, .capacity = 3, .available = 1, .held = 2, .ticket = 2};
	char text[REASON_BYTES_MAX];
	struct reason reason = {.kind = REASON_NONE};
	reason_conclude(&reason, &idle, 1);
	assert_int_equal(reason.kind, REASON_NONE);
	reason_conclude(&reason, &idle, 3);
	assert_int_equal(reason.kind, REASON_TAKEN);
	reason_to_text(&reason, &idle, REASON_FULL, text);
	assert_non_null(strstr(text, "the request was for 3 permits, 1 is free"));
	const struct tsem_stat lowered = {.size = sizeof(lowered), .permits = 3, .capacity = 1, .available = 1};
	reason = (struct reason){.kind = REASON_NONE};
	reason_conclude(&reason, &lowered, 3);
	assert_int_equal(reason.kind, REASON_CAPACITY);
}

/* A place in front that was given up counts in the tickets, until the queue skips it. */
static void
abandoned_places_are_free(void **state)
{
	(void)state;
	const struct situation s = {"orphan", REASON_FIRST, 1, 3, 3, 0, 7, 0, 2, {{2, TSEM_ALIVE, false}}, 2, 0, 0};
	const struct reason reason = reason_in(&s);
	assert_int_equal(reason.kind, REASON_FIRST);
	assert_int_equal(reason.free, 1);
}

static void
the_worst_holder_is_named(void **state)
{
	(void)state;
	struct situation s = {"", REASON_DEAD, 0, 4, 4, 0, 5, 0, 4, {{1, TSEM_DEAD, false}, {3, TSEM_UNKNOWN, true}},
	                      1,  0,           0};
	struct reason reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000000);
	assert_int_equal(reason.dead, 1);
	s.holders[0].alive = TSEM_ALIVE;
	reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000001);
	s.holders[1].foreign = false; /* of equals, the oldest */
	reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000000);
	assert_int_equal(reason.holders, 2);
}

static void
words_differ(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_KINDS; i++) {
		assert_non_null(reason_word((enum reason_kind)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(reason_word((enum reason_kind)i), reason_word((enum reason_kind)j));
	}
}

/* The counts of a damaged segment. */
static void
any_numbers_make_a_text(void **state)
{
	(void)state;
	const uint64_t numbers[] = {0, 1, UINT32_MAX, UINT64_C(1) << 48};
	char text[REASON_BYTES_MAX];
	for (unsigned i = 0; i < 4 * 4 * 4; i++) {
		const struct tsem_stat stat = {.size = sizeof(stat),
		                               .capacity = (uint32_t)numbers[i % 4],
		                               .held = numbers[i / 4 % 4],
		                               .ticket = numbers[i / 16],
		                               .waiting = 1};
		struct reason reason = {.kind = REASON_NONE};
		const struct tsem_owner owner = {.size = sizeof(owner), .count = UINT32_MAX, .elapsed_ns = UINT64_MAX};
		reason_note(&reason, &owner);
		reason_conclude(&reason, &stat, 1);
		reason_to_text(&reason, &stat, REASON_FULL, text);
		assert_true(strlen(text) > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind),
		cmocka_unit_test(without_a_waiter_the_reason_is_of_the_readers_request),
		cmocka_unit_test(abandoned_places_are_free),
		cmocka_unit_test(the_worst_holder_is_named),
		cmocka_unit_test(words_differ),
		cmocka_unit_test(any_numbers_make_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
