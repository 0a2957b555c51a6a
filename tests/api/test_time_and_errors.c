/* SPDX-License-Identifier: MIT */
/* tsem_deadline() and tsem_strerror(). */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static int64_t
milliseconds_between(const struct timespec *from, const struct timespec *to)
{
	return ((int64_t)to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

TEST(a_deadline_is_that_long_from_now)
{
	static const uint64_t lengths[] = {0, 1, 999, 1000, 1999, 86400000};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct timespec before, after;
		clock_gettime(CLOCK_MONOTONIC, &before);
		const struct timespec deadline = tsem_deadline(lengths[i]);
		clock_gettime(CLOCK_MONOTONIC, &after);
		assert_true(milliseconds_between(&before, &deadline) >= (int64_t)lengths[i]);
		assert_true(milliseconds_between(&after, &deadline) <= (int64_t)lengths[i]);
		assert_in_range(deadline.tv_nsec, 0, 999999999);
	}
}

/* A wait until then waits without end, and another with it does not fail. */
TEST(the_longest_deadline)
{
	tsem *sem = new_semaphore(1, 0);
	const struct timespec deadline = tsem_deadline(UINT64_MAX);
	assert_true(deadline.tv_sec > 1000000000);
	assert_in_range(deadline.tv_nsec, 0, 999999999);
	assert_int_equal(tsem_take(sem, 1, NULL), 0);
	const struct timespec soon = tsem_deadline(20);
	assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
	assert_int_equal(tsem_post(sem, 1, NULL), 0);
	assert_int_equal(tsem_take(sem, 1, &deadline), 0);
	tsem_close(sem);
}

/* No error that tsem(3) lists has the words of strerror(), which speak of files and of other devices. */
TEST(each_error_has_a_sentence_of_its_own)
{
	static const int errors[] = {EAGAIN, ETIMEDOUT,       EINTR,  ECANCELED,  EIDRM,    ENOENT,    EEXIST,
	                             EINVAL, ENAMETOOLONG,    EACCES, EPERM,      EBUSY,    EOVERFLOW, EBADMSG,
	                             EMLINK, EUSERS,          ESRCH,  EXDEV,      ENOTUNIQ, EBADF,     ENOSPC,
	                             EROFS,  EPROTONOSUPPORT, EFBIG,  EOPNOTSUPP, ENOMEM,   EMFILE,    ENFILE};
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const char *text = tsem_strerror(-errors[i]);
		assert_string_not_equal(text, strerror(errors[i]));
		assert_ptr_equal(text, tsem_strerror(errors[i]));
		assert_null(strchr(text, '\n'));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(text, tsem_strerror(errors[j]));
	}
	assert_string_equal(tsem_strerror(-EIO), strerror(EIO));
	assert_non_null(tsem_strerror(INT_MIN));
	assert_non_null(tsem_strerror(INT_MAX));
	assert_string_equal(tsem_strerror(0), "success");
}
