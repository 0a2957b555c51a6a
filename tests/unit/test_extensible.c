/* SPDX-License-Identifier: MIT */
/* Structures that have grown: the library knows more members than its caller, or fewer. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "system/extensible.h"

struct grown {
	size_t size;
	uint64_t first;
	uint64_t second;
	uint64_t third;
};

/* Of the first version; the second has `second`, too. */
enum { FIRST = SIZE_UP_TO(struct grown, first), SECOND = SIZE_UP_TO(struct grown, second) };

static const struct grown full = {.size = sizeof(full), .first = 1, .second = 2, .third = 3};

TEST(sizes_of_versions)
{
	struct padded {
		size_t size;
		char last;
	};
	assert_int_equal(FIRST, offsetof(struct grown, first) + 8);
	assert_int_equal(SIZE_UP_TO(struct grown, third), sizeof(struct grown));
	assert_int_equal(SIZE_UP_TO(struct padded, last), sizeof(struct padded));
}

TEST(what_an_older_caller_does_not_know_is_zero)
{
	struct grown ours;
	struct grown theirs = full;
	theirs.size = SECOND;
	memset(&ours, 0xff, sizeof(ours));
	assert_int_equal(extensible_read(&ours, sizeof(ours), FIRST, &theirs), 0);
	assert_int_equal(ours.first, 1);
	assert_int_equal(ours.second, 2);
	assert_int_equal(ours.third, 0);
	theirs.size = FIRST;
	assert_int_equal(extensible_read(&ours, sizeof(ours), FIRST, &theirs), 0);
	assert_int_equal(ours.first, 1);
	assert_int_equal(ours.second, 0);
}

/* The library is of the first version; `third` is the last byte of a newer caller's structure. */
TEST(what_the_library_does_not_know_must_be_zero)
{
	struct grown ours, untouched;
	memset(&ours, 0xff, sizeof(ours));
	untouched = ours;
	struct grown theirs = {.size = sizeof(theirs), .first = 1};
	((unsigned char *)&theirs)[sizeof(theirs) - 1] = 1;
	assert_int_equal(extensible_read(&ours, FIRST, FIRST, &theirs), -EINVAL);
	assert_memory_equal(&ours, &untouched, sizeof(ours));
	theirs.third = 0;
	assert_int_equal(extensible_read(&ours, FIRST, FIRST, &theirs), 0);
	assert_int_equal(ours.first, 1);
	assert_memory_equal(&ours.second, &untouched.second, sizeof(ours.second));
}

TEST(sizes_that_no_version_has)
{
	static const size_t sizes[] = {0, 1, FIRST - 1, EXTENSIBLE_SIZE_MAX + 1, SIZE_MAX};
	struct grown ours = full;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct grown theirs = {.size = sizes[i]};
		assert_int_equal(extensible_read(&ours, sizeof(ours), FIRST, &theirs), -EINVAL);
		assert_false(extensible_is_known(&theirs, FIRST));
	}
	assert_memory_equal(&ours, &full, sizeof(ours));
}

TEST(nothing_is_written_beyond_the_callers_size)
{
	struct grown theirs;
	memset(&theirs, 0xff, sizeof(theirs));
	theirs.size = SECOND;
	extensible_write(&theirs, &full, sizeof(full));
	assert_int_equal(theirs.size, SECOND);
	assert_int_equal(theirs.second, 2);
	assert_int_equal(theirs.third, UINT64_MAX);
}

TEST(what_the_library_does_not_know_becomes_zero)
{
	struct grown theirs;
	memset(&theirs, 0xff, sizeof(theirs));
	theirs.size = sizeof(theirs);
	extensible_write(&theirs, &full, FIRST);
	assert_int_equal(theirs.size, sizeof(theirs));
	assert_int_equal(theirs.first, 1);
	assert_int_equal(theirs.second, 0);
	assert_int_equal(theirs.third, 0);
}
