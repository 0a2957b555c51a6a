/* SPDX-License-Identifier: MIT */
#include "user.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

void
user_name(uid_t uid, char text[USER_BYTES_MAX])
{
	const struct passwd *passwd;
	FILE *file = fopen("/etc/passwd", "re");
	snprintf(text, USER_BYTES_MAX, "user %u", (unsigned)uid);
	if (file == NULL)
		return;
	while ((passwd = fgetpwent(file)) != NULL) {
		if (passwd->pw_uid == uid) {
			snprintf(text, USER_BYTES_MAX, "%s", passwd->pw_name);
			break;
		}
	}
	fclose(file);
}

bool
group_find(const char *name, gid_t *gid)
{
	const struct group *group;
	bool found = false;
	FILE *file = fopen("/etc/group", "re");
	if (file == NULL)
		return false;
	while (!found && (group = fgetgrent(file)) != NULL) {
		found = strcmp(group->gr_name, name) == 0;
		if (found)
			*gid = group->gr_gid;
	}
	fclose(file);
	return found;
}
