/* SPDX-License-Identifier: MIT */
#ifndef TSEM_SHM_RANDOM_H
#define TSEM_SHM_RANDOM_H

#include <stddef.h>

/*
 * Fills up to 256 bytes. Libuuid's functions are not usable here: they call srandom(), which changes the random numbers of
 * the program, and which hangs in a child if another thread was in such a call at the fork. Returns 0 or a negative errno.
 */
int random_fill(void *to, size_t bytes);
#endif
