/* SPDX-License-Identifier: MIT */
/* Why a request has to wait, from counts and owners that a test can make up. */
#include "support.h"

#include <string.h>

#include "reason.h"

struct situation {
	const char *what;
	enum reason_kind kind;
	int64_t first_free; /* test_wrap.c has how the library counts these */
	uint32_t permits, capacity;
	uint32_t posted; /* since the creation */
	uint64_t available, held;
	struct {
		uint32_t count;
		enum tsem_alive alive;
		bool foreign;
	} holders[2];
	uint32_t wanted; /* by the only waiter; 0: there is none */
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
		.grant = s->posted,
		.first_wanted = s->wanted,
		.first_free = s->first_free,
	};
	for (size_t i = 0; i < 2 && s->holders[i].count > 0; i++) {
		const struct tsem_owner owner = {
			.size = sizeof(owner),
			.pid = (pid_t)i + 1000000000, /* no process has it */
			.count = s->holders[i].count,
			.alive = s->holders[i].alive,
			.foreign_pid = s->holders[i].foreign,
		};
		assert_false(reason_note(&reason, &owner));
	}
	const struct tsem_owner waiter = {
		.size = sizeof(waiter),
		.count = s->wanted,
		.position = 1,
	};
	if (s->wanted > 0)
		assert_true(reason_note(&reason, &waiter));
	reason_conclude(&reason, &stat, 1);
	return reason;
}

TEST(each_kind)
{
	static const struct situation situations[] = {
		{"idle", REASON_NONE, 2, 2, 2, 0, 2, 0, {{0}}, 0, 0, 0},
		{"drained", REASON_DRAINED, 0, 2, 0, 0, 0, 0, {{0}}, 0, 0, 0},
		{"drained, held", REASON_DRAINED, -1, 2, 0, 0, 0, 1, {{1, TSEM_ALIVE, false}}, 1, 0, 0},
		{"drained, dead", REASON_DRAINED, -1, 2, 0, 0, 0, 1, {{1, TSEM_DEAD, false}}, 1, 0, 0},
		{"lowered", REASON_CAPACITY, 1, 3, 1, 0, 0, 0, {{0}}, 3, 0, 0},
		{"lowered, held", REASON_CAPACITY, 0, 3, 1, 0, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 0, 0},
		{"lowered, but enough", REASON_HELD, -1, 3, 1, 0, 0, 2, {{2, TSEM_ALIVE, false}}, 1, 0, 0},
		{"none yet", REASON_UNPOSTED, 0, 0, 0, 0, 0, 0, {{0}}, 1, 0, 0},
		{"too few yet", REASON_UNPOSTED, 2, 0, 0, 2, 0, 0, {{0}}, 3, 0, 0},
		{"held, but too few yet", REASON_UNPOSTED, 0, 1, 1, 0, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 3, 0},
		{"lowered again to the permits", REASON_CAPACITY, 2, 2, 2, 0, 2, 0, {{0}}, 5, 0, 0},
		{"lowered again, bounded", REASON_CAPACITY, 2, 2, 2, 0, 2, 0, {{0}}, 5, 0, TSEM_BOUNDED},
		{"too few yet, more than the maximum", REASON_CAPACITY, 0, 1, 1, 0, 0, 1, {{1, TSEM_ALIVE, false}}, 3, 2, 0},
		{"drained below the maximum", REASON_DRAINED, 0, 2, 0, 0, 0, 0, {{0}}, 1, 3, 0},
		{"taken", REASON_TAKEN, 0, 2, 2, 0, 0, 2, {{0}}, 1, 0, 0},
		{"taken, no waiter", REASON_TAKEN, 0, 2, 2, 0, 0, 2, {{0}}, 0, 0, 0},
		{"taken and held", REASON_HELD, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, false}}, 1, 0, 0},
		{"taken and held, all wanted", REASON_TAKEN, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, false}}, 2, 0, 0},
		{"dead", REASON_DEAD, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, false}, {1, TSEM_DEAD, false}}, 1, 0, 0},
		{"first", REASON_FIRST, 1, 3, 3, 0, 0, 2, {{2, TSEM_ALIVE, false}}, 2, 0, 0},
		{"first, elsewhere", REASON_FIRST, 1, 3, 3, 0, 0, 2, {{2, TSEM_ALIVE, true}}, 2, 0, 0},
		{"elsewhere", REASON_CONTAINER, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, false}, {1, TSEM_ALIVE, true}}, 1, 0, 0},
		{"unknown", REASON_UNKNOWN, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, true}, {1, TSEM_UNKNOWN, true}}, 1, 0, 0},
		{"unknown, here", REASON_UNKNOWN, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, true}, {1, TSEM_UNKNOWN, false}}, 1, 0, 0},
		{"unknown, and permits that are too few", REASON_UNKNOWN, 1, 3, 3, 0, 0, 2, {{2, TSEM_UNKNOWN, true}}, 2, 0, 0},
		{"held", REASON_HELD, 0, 2, 2, 0, 0, 2, {{1, TSEM_ALIVE, false}, {1, TSEM_ALIVE, false}}, 1, 0, 0},
	};
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
		const struct situation *s = &situations[i];
		const struct reason reason = reason_in(s);
		if (reason.kind != s->kind)
			fail_msg("%s: %s; should be %s", s->what, reason_word(reason.kind), reason_word(s->kind));
	}
}

/* A waiter that has left the queue asks for what it wanted. */
TEST(without_a_waiter_the_reason_is_of_the_readers_request)
{
	const struct tsem_stat idle = {
		.size = sizeof(idle), .permits = 3, .capacity = 3, .available = 1, .held = 2, .first_free = 1};
	char text[REASON_BYTES_MAX];
	struct reason reason = {.kind = REASON_NONE};
	reason_conclude(&reason, &idle, 1);
	assert_int_equal(reason.kind, REASON_NONE);
	reason_conclude(&reason, &idle, 3);
	assert_int_equal(reason.kind, REASON_TAKEN);
	reason_to_text(&reason, &idle, "x", &reason_full, text);
	assert_non_null(strstr(text, "the request was for 3 permits, 1 is available"));
	const struct tsem_stat lowered = {
		.size = sizeof(lowered), .permits = 3, .capacity = 1, .available = 1, .first_free = 1};
	reason = (struct reason){.kind = REASON_NONE};
	reason_conclude(&reason, &lowered, 3);
	assert_int_equal(reason.kind, REASON_CAPACITY);
}

TEST(the_worst_holder_is_named)
{
	struct situation s = {"", REASON_DEAD, 0, 4, 4, 0, 0, 4, {{1, TSEM_DEAD, false}, {3, TSEM_UNKNOWN, true}}, 1, 0, 0};
	struct reason reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000000);
	assert_int_equal(reason.dead, 1);
	s.holders[0].alive = TSEM_ALIVE;
	reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000001);
	s.holders[1].alive = TSEM_ALIVE;
	reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000001);
	s.holders[1].foreign = false; /* of equals, the oldest */
	reason = reason_in(&s);
	assert_int_equal(reason.holder.pid, 1000000000);
	assert_int_equal(reason.holders, 2);
}

TEST(words_differ)
{
	for (int i = 0; i < REASON_KINDS; i++) {
		assert_non_null(reason_word((enum reason_kind)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(reason_word((enum reason_kind)i), reason_word((enum reason_kind)j));
	}
}

/* The counts of a damaged segment. */
TEST(any_numbers_make_a_text)
{
	static const int64_t numbers[] = {0, 1, UINT32_MAX, INT64_C(1) << 48};
	static const struct reason_form compact = {.compact = true};
	static const struct reason_form *const forms[] = {&reason_brief, &reason_full, &compact};
	char text[REASON_BYTES_MAX];
	for (unsigned i = 0; i < 4 * 4 * 4 * 3; i++) {
		const struct tsem_stat stat = {.size = sizeof(stat),
		                               .capacity = (uint32_t)numbers[i % 4],
		                               .held = (uint64_t)numbers[i / 4 % 4],
		                               .first_wanted = 1,
		                               .first_free = -numbers[i / 16 % 4],
		                               .waiting = 1};
		struct reason reason = {.kind = REASON_NONE};
		const struct tsem_owner owner = {.size = sizeof(owner), .count = UINT32_MAX, .elapsed_ns = UINT64_MAX};
		reason_note(&reason, &owner);
		reason_conclude(&reason, &stat, 1);
		reason_to_text(&reason, &stat, "x", forms[i / 64], text);
		assert_true(strlen(text) > 0 || forms[i / 64] == &reason_brief);
	}
}
