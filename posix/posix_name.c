/* SPDX-License-Identifier: MIT */
#include "posix_name.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
	       || (c != '\0' && strchr("._-", c));
}

/* FNV-1a. */
static uint64_t
hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

int
posix_name(const char *posix, char name[POSIX_NAME_BYTES])
{
	const char *text = posix + strspn(posix, "/"); /* as glibc: the first one may be missing */
	const size_t length = strlen(text);
	bool plain = true;
	if (length == 0 || strchr(text, '/') != NULL)
		return -EINVAL;
	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < length; i++)
		plain = plain && is_plain(text[i]);
	if (plain && snprintf(name, POSIX_NAME_BYTES, "posix.%s", text) < POSIX_NAME_BYTES)
		return 0;
	const int prefix = snprintf(name, POSIX_NAME_BYTES, "posix-%016" PRIx64 ".", hash(text));
	char *to = name + prefix;
	for (; *text != '\0' && to < name + POSIX_NAME_BYTES - 1; text++)
		*to++ = (char)(is_plain(*text) ? *text : '_');
	*to = '\0';
	return 0;
}
