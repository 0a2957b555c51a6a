/* SPDX-License-Identifier: MIT */
#ifndef TSEM_POSIX_NAME_H
#define TSEM_POSIX_NAME_H

enum { POSIX_NAME_BYTES = 201 };

/*
 * The tsem name of a POSIX name: posix.NAME if tsem can have that as a name, and otherwise posix-HASH.NAME, with '_' for
 * each byte that it cannot have, and cut to its length. -EINVAL. -ENAMETOOLONG.
 */
int posix_name(const char *posix, char name[POSIX_NAME_BYTES]);

#endif
