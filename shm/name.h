/* SPDX-License-Identifier: MIT */
/* Names of semaphores, and the files they live in. */
#ifndef TSEM_SHM_NAME_H
#define TSEM_SHM_NAME_H

#include <stdbool.h>

/* Where POSIX shared memory lives on Linux, with glibc and with musl. */
#define SHM_DIRECTORY "/dev/shm"
#define SHM_PREFIX "tsem."

enum { NAME_BYTES_MAX = 200, PATH_BYTES = sizeof(SHM_DIRECTORY "/" SHM_PREFIX) + NAME_BYTES_MAX };

/* 0, -EINVAL for a name that breaks the rules, -ENAMETOOLONG. */
int name_check(const char *name);

/* The path of the segment called `name`; the same errors as name_check. */
int name_to_path(const char *name, char path[PATH_BYTES]);

/* The name inside a file name of SHM_DIRECTORY, or NULL if no semaphore can be called that. */
const char *name_from_file(const char *file);

#endif
