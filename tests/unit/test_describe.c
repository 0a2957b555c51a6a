/* SPDX-License-Identifier: MIT */
/* The cells of `tsem show` and `tsem list`: each column, from numbers that differ. */
#include "support.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "view/describe.h"

TEST(durations_are_short)
{
	static const struct {
		uint64_t seconds;
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, 0, "0.0s"},           {0, 999999999, "0.9s"}, {5, 200000000, "5.2s"},
		{59, 999999999, "59.9s"}, {60, 0, "1m00s"},       {200, 0, "3m20s"},
		{3599, 0, "59m59s"},      {3600, 0, "1h00m"},     {2 * 3600 + 300, 0, "2h05m"},
		{86399, 0, "23h59m"},     {86400, 0, "1d00h"},    {9 * 86400 + 3 * 3600, 0, "9d03h"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[24];
		duration_to_text(cases[i].seconds * 1000000000 + cases[i].ns, text);
		assert_string_equal(text, cases[i].text);
	}
}

TEST(times_are_in_UTC)
{
	char text[32];
	time_to_text(1700000000, text);
	assert_string_equal(text, "2023-11-14T22:13:20Z");
	time_to_text(INT64_MAX, text); /* from a damaged segment */
	assert_string_equal(text, "1970-01-01T00:00:00Z");
}

enum { UNUSED_UID = 3999999 };

/* The function caches the last user, so the order of these calls matters. */
TEST(unknown_users_are_numbers)
{
	if (getpwuid(UNUSED_UID) != NULL)
		SKIP("the user %d exists", UNUSED_UID);
	char text[64];
	user_to_text(0, text);
	assert_string_equal(text, "root");
	user_to_text(UNUSED_UID, text);
	assert_string_equal(text, "3999999");
	user_to_text(0, text);
	assert_string_equal(text, "root");
}

/* ---- tsem list ---- */

TEST(each_column_of_a_semaphore)
{
	static const char *const expected[LIST_COLUMNS] = {
		[LIST_NAME] = "it",
		[LIST_PERMITS] = "11",
		[LIST_CAPACITY] = "12",
		[LIST_MAX] = "13",
		[LIST_AVAILABLE] = "14",
		[LIST_BOUNDED] = "yes",
		[LIST_EXCESS] = "17",
		[LIST_HELD] = "15",
		[LIST_WAITING] = "16",
		[LIST_REASON] = "taken",
		[LIST_WHY] = "15 permits were taken and not posted back (give them back with 'tsem post -k 15 it')",
		[LIST_TICKET] = "281474976710655",
		[LIST_GRANT] = "18",
		[LIST_MODE] = "0640",
		[LIST_USER] = "root",
		[LIST_UID] = "0",
		[LIST_GROUP] = "3999999",
		[LIST_GID] = "3999999",
		[LIST_CREATED] = "2023-11-14T22:13:20Z",
		[LIST_UUID] = "00010203-0405-0607-0809-0a0b0c0d0eff",
	};
	const struct tsem_stat stat = {
		.size = sizeof(stat),
		.uuid = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff},
		.permits = 11,
		.capacity = 12,
		.max = 13,
		.available = 14,
		.excess = 17,
		.held = 15,
		.gid = UNUSED_UID,
		.flags = TSEM_BOUNDED,
		.waiting = 16,
		.ticket = 281474976710655,
		.grant = 18,
		.mode = 0640,
		.created = 1700000000,
	};
	const struct reason reason = {.kind = REASON_TAKEN, .anonymous = 15};
	for (int column = 0; column < LIST_COLUMNS; column++) {
		char text[CELL_BYTES_MAX];
		semaphore_to_cell(&(struct semaphore){"it", &stat, &reason, false}, (enum list_column)column, text);
		assert_string_equal(text, expected[column]);
	}
}

TEST(without_an_excess_the_cell_is_empty)
{
	const struct tsem_stat stat = {.size = sizeof(stat)};
	char text[CELL_BYTES_MAX] = "?";
	const struct semaphore semaphore = {.name = "it", .stat = &stat};
	semaphore_to_cell(&semaphore, LIST_EXCESS, text);
	assert_string_equal(text, "");
	semaphore_to_cell(&semaphore, LIST_BOUNDED, text);
	assert_string_equal(text, "no");
}

TEST(what_the_creator_left_to_posts_is_no_excess)
{
	struct tsem_stat stat = {.size = sizeof(stat), .permits = 1, .capacity = 1, .available = 4, .excess = 3};
	assert_int_equal(excess_of(&stat), 3);
	stat.max = 4;
	assert_int_equal(excess_of(&stat), 0);
	stat.available = 5;
	assert_int_equal(excess_of(&stat), 3);
	stat.max = 1;
	stat.available = 0; /* all are held */
	assert_int_equal(excess_of(&stat), 3);
	stat.permits = 0;
	assert_int_equal(excess_of(&stat), 0);
}

/* ---- tsem show ---- */

static const char *
cell_of(const struct tsem_owner *owner, enum show_column column)
{
	static char text[CELL_BYTES_MAX];
	participant_to_cell(&(struct participant){.owner = owner}, column, text);
	return text;
}

TEST(each_column_of_a_holder)
{
	static const uint32_t slots[] = {3, 7, 1023};
	const struct tsem_owner owner = {
		.size = sizeof(owner),
		.pid = getpid(),
		.pid_here = getpid(),
		.count = 21,
		.alive = TSEM_ALIVE,
		.owned = true,
		.ticket = 22,
		.elapsed_ns = 7300000000,
		.remaining_ns = -1,
		.slot = 3,
		.slot_count = 3,
		.slots = slots,
	};
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	assert_string_equal(cell_of(&owner, SHOW_STATE), "holds");
	assert_string_equal(cell_of(&owner, SHOW_POSITION), "");
	assert_string_equal(cell_of(&owner, SHOW_PID), pid);
	assert_string_equal(cell_of(&owner, SHOW_USER), "root");
	assert_string_equal(cell_of(&owner, SHOW_UID), "0");
	assert_string_equal(cell_of(&owner, SHOW_COUNT), "21");
	assert_string_equal(cell_of(&owner, SHOW_SLOT), "3");
	assert_string_equal(cell_of(&owner, SHOW_SLOTS), "3,7,1023");
	assert_string_equal(cell_of(&owner, SHOW_TIME), "7.3s");
	assert_string_equal(cell_of(&owner, SHOW_DEADLINE), "");
	assert_string_equal(cell_of(&owner, SHOW_ALIVE), "yes");
	assert_string_equal(cell_of(&owner, SHOW_STOPPED), "no");
	assert_string_equal(cell_of(&owner, SHOW_OWNED), "yes");
	assert_string_equal(cell_of(&owner, SHOW_TICKET), "22");
	assert_non_null(strstr(cell_of(&owner, SHOW_COMMAND), "test_describe"));
}

TEST(each_column_of_a_waiter)
{
	const struct tsem_owner owner = {
		.size = sizeof(owner),
		.pid = 4194303,
		.uid = 1,
		.count = 1,
		.position = 42,
		.alive = TSEM_UNKNOWN,
		.foreign_pid = true,
		.remaining_ns = 61000000000,
		.slot = TSEM_NO_SLOT,
	};
	assert_string_equal(cell_of(&owner, SHOW_STATE), "waits");
	assert_string_equal(cell_of(&owner, SHOW_POSITION), "42");
	assert_string_equal(cell_of(&owner, SHOW_UID), "1");
	assert_string_equal(cell_of(&owner, SHOW_SLOT), "");
	assert_string_equal(cell_of(&owner, SHOW_SLOTS), "");
	assert_string_equal(cell_of(&owner, SHOW_DEADLINE), "1m01s");
	assert_string_equal(cell_of(&owner, SHOW_ALIVE), "unknown");
	assert_string_equal(cell_of(&owner, SHOW_OWNED), "no");
	assert_string_equal(cell_of(&owner, SHOW_COMMAND), "?");
	const struct tsem_owner dead = {.size = sizeof(dead), .alive = TSEM_DEAD};
	assert_string_equal(cell_of(&dead, SHOW_ALIVE), "no");
}

/* The text ends after a whole number. */
TEST(too_many_slots_end_with_dots)
{
	uint32_t slots[TSEM_SLOTS_MAX];
	for (uint32_t i = 0; i < TSEM_SLOTS_MAX; i++)
		slots[i] = TSEM_SLOTS_MAX - 1;
	const struct tsem_owner owner = {.size = sizeof(owner), .slot_count = TSEM_SLOTS_MAX, .slots = slots};
	const char *text = cell_of(&owner, SHOW_SLOTS);
	const size_t length = strlen(text);
	assert_in_range(length, CELL_BYTES_MAX - 10, CELL_BYTES_MAX - 1);
	assert_string_equal(text + length - 12, "1023,1023...");
}
