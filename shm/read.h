/* SPDX-License-Identifier: MIT */
/* Reading a part of a file without mapping it. */
#ifndef TSEM_SHM_READ_H
#define TSEM_SHM_READ_H

#include <stddef.h>
#include <sys/types.h>

/* pread() of up to `bytes` bytes, repeated until the end of the file. Returns the number of bytes, or a negative errno. */
ssize_t read_from(int fd, void *to, size_t bytes, size_t from);

#endif
