/* SPDX-License-Identifier: MIT */
/* A forked child that claims its first record while descriptors are short. Linked with --wrap=boot_offset_read. */
#include "fixture.h"

#include "system/proc.h"

static bool fails_once;

int64_t __real_boot_offset_read(void);
int64_t __wrap_boot_offset_read(void);

/* What the library reads first of a process's identity. */
int64_t
__wrap_boot_offset_read(void)
{
	if (!fails_once)
		return __real_boot_offset_read();
	fails_once = false;
	errno = EMFILE;
	return BOOT_OFFSET_UNKNOWN;
}

/* The first call fails, and takes nothing; or it succeeds, and the hold is the child's. */
static int
acquire_in_a_child(void *arg)
{
	tsem_hold hold;
	(void)arg;
	fails_once = true;
	int rc = tsem_acquire(sem, 1, NULL, &hold);
	CHECK(rc == 0 || rc == -EMFILE);
	CHECK(rc < 0 || tsem_release(&hold) == 0);
	CHECK(tsem_acquire(sem, 1, NULL, &hold) == 0);
	CHECK(tsem_release(&hold) == 0);
	return 0;
}

TEST_BETWEEN(NULL, tear_down, no_record_is_claimed_without_an_owner)
{
	begin(1);
	assert_int_equal(end_of_child(start_child(acquire_in_a_child, NULL)), 0);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	expect_at_rest(sem, 1);
}
