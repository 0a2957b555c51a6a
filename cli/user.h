/* SPDX-License-Identifier: MIT */
/*
 * Names of users and groups for the command, which is static and must not load the name services of the C library. So
 * only the names in /etc/passwd and /etc/group are known; others are numbers.
 */
#ifndef TSEM_CLI_USER_H
#define TSEM_CLI_USER_H

#include <stdbool.h>
#include <sys/types.h>

enum { USER_BYTES_MAX = 64 };

/* "alice", or "user 1234". */
void user_name(uid_t uid, char text[USER_BYTES_MAX]);

/* False: there is no such group. */
bool group_find(const char *name, gid_t *gid);

#endif
