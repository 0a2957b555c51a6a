/* SPDX-License-Identifier: MIT */
/* Names of semaphores, and the paths of their files. */
#ifndef TSEM_SHM_NAME_H
#define TSEM_SHM_NAME_H

#include <stdbool.h>

#include "config.h"

enum { NAME_BYTES_MAX = 200, PATH_BYTES = sizeof(SHM_PATH_PREFIX) + NAME_BYTES_MAX };

/* -EINVAL: the name breaks the rules. -ENAMETOOLONG. */
int name_check(const char *name);

/* Writes the path of the segment called `name`. The errors are those of name_check(). */
int name_to_path(const char *name, char path[PATH_BYTES]);

/* Returns the semaphore's name within a file name of SHM_DIRECTORY; NULL if the file cannot be a semaphore's. */
const char *name_from_file(const char *file);

#endif
