/* SPDX-License-Identifier: MIT */
/* Which names are valid, and which file each of them leads to. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "name.h"

/* The rule is written otherwise than in the library, and without <ctype.h>, which depends on the locale. */
static bool
is_allowed(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.'
	       || byte == '_' || byte == '-';
}

TEST(each_byte_is_allowed_or_refused)
{
	for (unsigned byte = 1; byte < 256; byte++) {
		const char single[] = {(char)byte, '\0'};
		const char inside[] = {'a', (char)byte, 'b', '\0'};
		const char last[] = {'a', (char)byte, '\0'};
		const bool allowed = is_allowed((unsigned char)byte);
		assert_int_equal(name_check(single), allowed && byte != '.' && byte != '-' ? 0 : -EINVAL);
		assert_int_equal(name_check(inside), allowed ? 0 : -EINVAL);
		assert_int_equal(name_check(last), allowed ? 0 : -EINVAL);
	}
}

TEST(bad_names_are_refused)
{
	static const char *const bad[] = {"",    ".",  "..",   ".hidden", "-n",  "--help",
	                                  "a/b", "/a", "../a", "a b",     "a\n", "\xc3\xa9"};
	assert_int_equal(name_check(NULL), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char path[PATH_BYTES] = "untouched";
		assert_int_equal(name_check(bad[i]), -EINVAL);
		assert_int_equal(name_to_path(bad[i], path), -EINVAL);
		assert_string_equal(path, "untouched");
	}
}

TEST(length_is_limited)
{
	char name[302];
	char path[PATH_BYTES];
	memset(name, 'x', sizeof(name));

	name[NAME_BYTES_MAX] = '\0';
	assert_int_equal(name_check(name), 0);
	assert_int_equal(name_to_path(name, path), 0);
	assert_int_equal(strlen(path), strlen("/dev/shm/tsem.") + 200);
	assert_string_equal(path + strlen("/dev/shm/tsem."), name);

	name[NAME_BYTES_MAX] = 'x';
	name[NAME_BYTES_MAX + 1] = '\0';
	assert_int_equal(name_check(name), -ENAMETOOLONG);
	assert_int_equal(name_to_path(name, path), -ENAMETOOLONG);

	/* A name that is both invalid and too long is invalid. */
	name[NAME_BYTES_MAX + 1] = '/';
	name[NAME_BYTES_MAX + 2] = '\0';
	assert_int_equal(name_check(name), -EINVAL);
}

TEST(a_name_leads_to_a_file)
{
	char path[PATH_BYTES];
	assert_int_equal(name_to_path("build-1.x_y", path), 0);
	assert_string_equal(path, "/dev/shm/tsem.build-1.x_y");
	assert_int_equal(name_to_path("0", path), 0);
	assert_string_equal(path, "/dev/shm/tsem.0");
}

TEST(a_file_leads_to_a_name)
{
	assert_string_equal(name_from_file("tsem.build"), "build");
	assert_string_equal(name_from_file("tsem.tsem.x"), "tsem.x");
	assert_null(name_from_file("tsem."));
	assert_null(name_from_file("tsem"));
	assert_null(name_from_file("sem.build"));
	assert_null(name_from_file(".tsem.build"));
	assert_null(name_from_file("tsem..hidden"));
	assert_null(name_from_file("tsem.-n"));
	assert_null(name_from_file("tsem.a b"));
	assert_null(name_from_file("TSEM.build"));
	assert_null(name_from_file(""));

	char file[302] = "tsem.";
	memset(file + 5, 'x', 201);
	file[206] = '\0';
	assert_null(name_from_file(file));
	file[205] = '\0';
	assert_ptr_equal(name_from_file(file), file + 5);
}
