/* SPDX-License-Identifier: MIT */
/* Programs that were compiled with another version of tsem.h: the sizes of their structures differ. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MORE = 40, SIZE_MAX_KNOWN = 4096 };

/* A structure of a later version, and the bytes behind it, which a function must neither read nor write. */
struct later_config {
	struct tsem_config now;
	unsigned char more[MORE];
	unsigned char behind[8];
};

struct later_wait {
	struct tsem_wait now;
	unsigned char more[MORE];
	unsigned char behind[8];
};

struct later_stat {
	struct tsem_stat now;
	unsigned char more[MORE];
	unsigned char behind[8];
};

static int
create(const struct tsem_config *config)
{
	tsem *sem = NULL;
	int rc = tsem_create(fresh_name(), config, &sem);
	tsem_close(sem);
	return rc;
}

static int
init_at(const struct tsem_config *config)
{
	tsem *sem = NULL;
	const size_t size = tsem_size_at(1);
	void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
	assert_non_null(memory);
	int rc = tsem_init_at(memory, size, config, &sem);
	tsem_close(sem);
	free(memory);
	return rc;
}

TEST(configurations)
{
	static int (*const make[])(const struct tsem_config *) = {create, init_at};
	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		struct later_config config = {.now = {.permits = 2}, .behind = {1}};
		config.now.size = sizeof(config.now) + MORE;
		assert_int_equal(make[i](&config.now), 0);
		config.more[MORE - 1] = 1;
		assert_int_equal(make[i](&config.now), -EINVAL);
		config.now.size = sizeof(config.now) + MORE - 1;
		assert_int_equal(make[i](&config.now), 0);
		config.more[0] = 1;
		assert_int_equal(make[i](&config.now), -EINVAL);
		config.now.size = offsetof(struct tsem_config, group) - 1;
		assert_int_equal(make[i](&config.now), -EINVAL);
		config.now.size = SIZE_MAX_KNOWN + 1;
		assert_int_equal(make[i](&config.now), -EINVAL);
		config.now.size = SIZE_MAX;
		assert_int_equal(make[i](&config.now), -EINVAL);
	}
}

/* Each function that takes a struct tsem_wait; `sems` have two permits each. */
static int
take(tsem *sems[2], const struct tsem_wait *wait)
{
	int rc = tsem_take_wait(sems[0], 1, wait);
	return rc == 0 ? tsem_post(sems[0], 1, NULL) : rc;
}

static int
acquire(tsem *sems[2], const struct tsem_wait *wait)
{
	tsem_hold hold;
	int rc = tsem_acquire_wait(sems[0], 1, wait, &hold);
	return rc == 0 ? tsem_release(&hold) : rc;
}

static int
acquire_all(tsem *sems[2], const struct tsem_wait *wait)
{
	tsem_hold holds[2];
	int rc = tsem_acquire_all(sems, 2, wait, holds);
	return rc == 0 ? tsem_release(&holds[0]) | tsem_release(&holds[1]) : rc;
}

static int
acquire_any(tsem *sems[2], const struct tsem_wait *wait)
{
	tsem_hold hold;
	size_t which;
	int rc = tsem_acquire_any(sems, 2, wait, &hold, &which);
	return rc == 0 ? tsem_release(&hold) : rc;
}

static int
post_and_take(tsem *sems[2], const struct tsem_wait *wait)
{
	int rc = tsem_post_and_take_wait(sems[0], sems[1], wait);
	return rc == 0 ? tsem_post_and_take(sems[1], sems[0]) : rc;
}

TEST(ways_to_wait)
{
	static int (*const use[])(tsem *[2], const struct tsem_wait *) = {take, acquire, acquire_all, acquire_any,
	                                                                  post_and_take};
	tsem *sems[2] = {new_semaphore(2, 0), new_semaphore(2, 0)};
	for (size_t i = 0; i < sizeof(use) / sizeof(use[0]); i++) {
		struct later_wait wait = {.behind = {1}};
		wait.now.size = sizeof(wait.now) + MORE;
		assert_int_equal(use[i](sems, &wait.now), 0);
		wait.more[MORE - 1] = 1;
		assert_int_equal(use[i](sems, &wait.now), -EINVAL);
		wait.now.size = sizeof(wait.now) + MORE - 1;
		assert_int_equal(use[i](sems, &wait.now), 0);
		wait.more[0] = 1;
		assert_int_equal(use[i](sems, &wait.now), -EINVAL);
		wait.now.size = sizeof(wait.now) - 1;
		assert_int_equal(use[i](sems, &wait.now), -EINVAL);
		wait.now.size = SIZE_MAX_KNOWN + 1;
		assert_int_equal(use[i](sems, &wait.now), -EINVAL);
		wait.now.size = SIZE_MAX;
		assert_int_equal(use[i](sems, &wait.now), -EINVAL);
		expect_at_rest(sems[0], 2);
		expect_at_rest(sems[1], 2);
	}
	tsem_close(sems[0]);
	tsem_close(sems[1]);
}

static int
ignore_owner(const struct tsem_owner *owner, void *arg)
{
	(void)owner;
	(void)arg;
	return 0;
}

static int
snapshot(tsem *sem, struct tsem_stat *stat)
{
	return tsem_snapshot(sem, stat, ignore_owner, NULL);
}

TEST(results)
{
	static int (*const look[])(tsem *, struct tsem_stat *) = {tsem_stat, snapshot};
	static const unsigned char zeros[MORE];
	tsem *sem = new_semaphore(2, 7);
	const struct tsem_stat expected = stat_of(sem);
	struct later_stat stat, untouched;
	for (size_t i = 0; i < sizeof(look) / sizeof(look[0]); i++) {
		memset(&stat, 0xff, sizeof(stat));
		stat.now.size = sizeof(stat.now) + MORE;
		untouched = stat;
		assert_int_equal(look[i](sem, &stat.now), 0);
		assert_int_equal(stat.now.size, sizeof(stat.now) + MORE);
		assert_memory_equal((char *)&stat.now + sizeof(size_t), (const char *)&expected + sizeof(size_t),
		                    sizeof(expected) - sizeof(size_t));
		assert_memory_equal(stat.more, zeros, MORE);
		assert_memory_equal(stat.behind, untouched.behind, sizeof(stat.behind));

		static const size_t unknown[] = {0, 7, offsetof(struct tsem_stat, excess) - 1, SIZE_MAX_KNOWN + 1, SIZE_MAX};
		for (size_t j = 0; j < sizeof(unknown) / sizeof(unknown[0]); j++) {
			memset(&stat, 0xff, sizeof(stat));
			stat.now.size = unknown[j];
			untouched = stat;
			assert_int_equal(look[i](sem, &stat.now), -EINVAL);
			assert_memory_equal(&stat, &untouched, sizeof(stat));
		}
	}
	tsem_close(sem);
}
