/* SPDX-License-Identifier: MIT */
#include "name.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* isalnum() depends on the locale, and all processes must accept the same names. */
static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

int
name_check(const char *name)
{
	if (name == NULL || name[0] == '\0' || name[0] == '.' || name[0] == '-')
		return -EINVAL;

	size_t length = strspn(name, allowed);
	if (name[length] != '\0')
		return -EINVAL;
	return length > NAME_BYTES_MAX ? -ENAMETOOLONG : 0;
}

int
name_to_path(const char *name, char path[PATH_BYTES])
{
	static const char head[] = SHM_PATH_PREFIX;

	int rc = name_check(name);
	if (rc < 0)
		return rc;
	memcpy(path, head, sizeof(head) - 1);
	strcpy(path + sizeof(head) - 1, name); /* fits: name_check() limits the length */
	return 0;
}

const char *
name_from_file(const char *file)
{
	if (strncmp(file, SHM_PREFIX, sizeof(SHM_PREFIX) - 1) != 0)
		return NULL;
	file += sizeof(SHM_PREFIX) - 1;
	return name_check(file) == 0 ? file : NULL;
}
