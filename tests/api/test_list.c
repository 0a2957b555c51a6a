/* SPDX-License-Identifier: MIT */
/* tsem_list. */
#include "support.h"

#include <string.h>

struct listed {
	char previous[256];
	size_t n;
	size_t mine;
	size_t stop_at;
	bool sorted;
	char prefix[64];
};

static int
note_name(const char *name, void *arg)
{
	struct listed *listed = arg;
	listed->sorted = listed->sorted && strverscmp(listed->previous, name) < 0;
	strncpy(listed->previous, name, sizeof(listed->previous) - 1);
	listed->mine += strncmp(name, listed->prefix, strlen(listed->prefix)) == 0;
	return ++listed->n == listed->stop_at ? 815 : 0;
}

TEST(names_are_sorted)
{
	enum { NAMES = 30 };
	struct listed before = {.sorted = true};
	tsem *sems[NAMES];
	/* All names of this process have the same beginning, up to the second dot. */
	const char *name = fresh_name();
	const size_t length = (size_t)(strchr(strchr(name, '.') + 1, '.') - name) + 1;
	memcpy(before.prefix, name, length);
	struct listed after = before;
	assert_int_equal(tsem_list(note_name, &before), 0);
	for (size_t i = 0; i < NAMES; i++)
		sems[i] = new_semaphore(1, 0);
	assert_int_equal(tsem_list(note_name, &after), 0);
	assert_int_equal(after.mine, before.mine + NAMES);
	assert_true(after.sorted);

	struct listed some = {.stop_at = 3};
	assert_int_equal(tsem_list(note_name, &some), 815);
	assert_int_equal(some.n, 3);
	for (size_t i = 0; i < NAMES; i++)
		tsem_close(sems[i]);
}
