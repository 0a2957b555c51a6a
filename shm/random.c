/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <errno.h>
#include <sys/random.h>

/* A signal can interrupt it only early while the system starts. */
int
random_fill(void *to, size_t bytes)
{
	ssize_t got;
	do
		got = getrandom(to, bytes, 0);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : 0;
}
