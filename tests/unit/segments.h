/* SPDX-License-Identifier: MIT */
/* Segments for the tests of shm/. */
#ifndef TSEM_TESTS_SEGMENTS_H
#define TSEM_TESTS_SEGMENTS_H

#include "support.h"

#include <sys/stat.h>

#include "segment.h"

static const struct segment_config config = {.permits = 3, .max = 9, .mode = 0600};

static inline struct segment
created(const char *name)
{
	struct segment segment;
	assert_int_equal(segment_create(name, &config, &segment), 0);
	return segment;
}

static inline struct stat
stat_of_file(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(file_of(name), &st), 0);
	return st;
}

static inline void
refused(const char *name, int error)
{
	struct segment segment;
	assert_int_equal(segment_attach(name, 0, &segment), error);
	assert_int_equal(segment_attach(name, SEGMENT_READ_ONLY, &segment), error);
}

#endif
