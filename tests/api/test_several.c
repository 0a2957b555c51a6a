/* SPDX-License-Identifier: MIT */
/* tsem_acquire_all, and what its arguments may not be. */
#include "support.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static const struct timespec past;
static const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};

TEST(mistakes)
{
	const char *name = fresh_name();
	tsem *a = new_semaphore_named(name, 1, 0);
	tsem *again = open_semaphore(name);
	tsem *b = new_semaphore(1, 0);
	tsem *const twice[] = {a, b, again};
	tsem_hold holds[3];
	size_t which = 99;
	assert_int_equal(tsem_acquire_all(twice, 3, NULL, holds), -EINVAL);
	assert_int_equal(tsem_acquire_all(twice, 0, NULL, holds), -EINVAL);
	assert_int_equal(tsem_acquire_any(twice, 3, NULL, holds, &which), -EINVAL);
	assert_int_equal(tsem_acquire_any(twice, 0, NULL, holds, &which), -EINVAL);
	const struct tsem_wait bad = {.size = 1};
	assert_int_equal(tsem_acquire_all(twice, 2, &bad, holds), -EINVAL);
	assert_int_equal(tsem_acquire_any(twice, 2, &bad, holds, &which), -EINVAL);
	assert_int_equal(which, 99);
	assert_int_equal(stat_of(a).ticket + stat_of(b).ticket, 0);
	tsem_close(a);
	tsem_close(again);
	tsem_close(b);
}

/* All different, so that only their number is wrong. */
TEST(too_many_semaphores)
{
	enum { MORE = TSEM_SEMAPHORES_MAX + 1 };
	tsem *sems[MORE];
	tsem_hold holds[MORE];
	size_t which = 99;
	for (size_t i = 0; i < MORE; i++)
		sems[i] = new_semaphore(1, 0);
	assert_int_equal(tsem_acquire_all(sems, MORE, NULL, holds), -EINVAL);
	assert_int_equal(tsem_acquire_any(sems, MORE, NULL, holds, &which), -EINVAL);
	assert_int_equal(tsem_acquire_all(sems, SIZE_MAX, NULL, holds), -EINVAL);
	assert_int_equal(tsem_acquire_any(sems, SIZE_MAX, NULL, holds, &which), -EINVAL);
	assert_int_equal(which, 99);
	for (size_t i = 0; i < MORE; i++)
		assert_int_equal(stat_of(sems[i]).ticket, 0);
	assert_int_equal(tsem_acquire_all(sems, MORE - 1, NULL, holds), 0);
	for (size_t i = 0; i < MORE; i++) {
		assert_int_equal(stat_of(sems[i]).held, i < MORE - 1);
		tsem_close(sems[i]);
	}
}

/* Any of them. */
TEST(one_of_them_is_gone)
{
	for (size_t gone = 0; gone < 3; gone++) {
		tsem *sems[3];
		tsem_hold holds[3];
		size_t which = 99;
		for (size_t i = 0; i < 3; i++) {
			const char *name = fresh_name();
			sems[i] = new_semaphore_named(name, 1, 0);
			if (i == gone)
				assert_int_equal(tsem_remove(name, TSEM_FORCE), 0);
		}
		assert_int_equal(tsem_acquire_all(sems, 3, NULL, holds), -EIDRM);
		assert_int_equal(tsem_acquire_any(sems, 3, NULL, holds, &which), -EIDRM);
		assert_int_equal(which, 99);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(stat_of(sems[i]).held, 0);
			assert_int_equal(stat_of(sems[i]).waiting, 0);
			tsem_close(sems[i]);
		}
	}
}

TEST(all_or_none)
{
	tsem *const sems[] = {new_semaphore(1, 0), new_semaphore(1, 0), new_semaphore(1, 0)};
	tsem_hold holds[3];
	for (size_t missing = 0; missing < 3; missing++) {
		assert_int_equal(tsem_take(sems[missing], 1, NULL), 0);
		assert_int_equal(tsem_acquire_all(sems, 3, &at_once, holds), -ETIMEDOUT);
		assert_int_equal(tsem_post(sems[missing], 1, NULL), 0);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(stat_of(sems[i]).available, 1);
	}
	assert_int_equal(tsem_acquire_all(sems, 3, NULL, holds), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(stat_of(sems[i]).available, 0);
		assert_int_equal(tsem_release(&holds[i]), 0);
		assert_int_equal(stat_of(sems[i]).available, 1); /* each hold belongs to its semaphore */
		tsem_close(sems[i]);
	}
}

struct table {
	tsem *forks[5];
	_Atomic int eating[5];
	_Atomic int seats; /* taken */
};

static int
dine(void *arg)
{
	struct table *table = arg;
	const int left = table->seats++;
	const int right = (left + 1) % 5;
	tsem *const forks[] = {table->forks[left], table->forks[right]};
	for (int meal = 0; meal < 500; meal++) {
		tsem_hold holds[2];
		CHECK(tsem_acquire_all(forks, 2, NULL, holds) == 0);
		CHECK(++table->eating[left] == 1 && ++table->eating[right] == 1);
		table->eating[left]--;
		table->eating[right]--;
		CHECK(tsem_release(&holds[0]) == 0 && tsem_release(&holds[1]) == 0);
	}
	return 0;
}

/* Each philosopher names the left fork first: acquired in this order, they would wait in a circle. */
TEST(philosophers)
{
	struct table *table = shared_memory(sizeof(*table));
	pid_t guests[5];
	for (int i = 0; i < 5; i++)
		table->forks[i] = new_semaphore(1, 0);
	for (int i = 0; i < 5; i++)
		guests[i] = start_child(dine, table);
	for (int i = 0; i < 5; i++)
		assert_int_equal(end_of_child(guests[i]), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(stat_of(table->forks[i]).available, 1);
		tsem_close(table->forks[i]);
	}
	munmap(table, sizeof(*table));
}
