/* SPDX-License-Identifier: MIT */
/* rounds NAME OPERATION N: does an uncontended operation of the library N times. strace counts the system calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tsem.h"

static void
check(const char *what, int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-rc));
	exit(1);
}

static void
take_and_post(tsem *sem)
{
	check("tsem_take", tsem_take(sem, 2, NULL));
	check("tsem_post", tsem_post(sem, 2, NULL));
}

static void
try_take_and_post(tsem *sem)
{
	uint32_t previous;
	check("tsem_try_take", tsem_try_take(sem, 1));
	check("tsem_post", tsem_post(sem, 1, &previous));
}

static void
acquire_and_release(tsem *sem)
{
	tsem_hold hold;
	check("tsem_acquire", tsem_acquire(sem, 2, NULL, &hold));
	check("tsem_release", tsem_release(&hold));
}

static void
try_acquire_and_release(tsem *sem)
{
	tsem_hold hold;
	check("tsem_try_acquire", tsem_try_acquire(sem, 1, &hold));
	check("tsem_release", tsem_release(&hold));
}

/* Two holds at once, released in the order of acquisition, so that a cached record does not hide a system call. */
static void
acquire_twice(tsem *sem)
{
	tsem_hold holds[2];
	check("tsem_acquire", tsem_acquire(sem, 1, NULL, &holds[0]));
	check("tsem_acquire", tsem_acquire(sem, 1, NULL, &holds[1]));
	check("tsem_release", tsem_release(&holds[0]));
	check("tsem_release", tsem_release(&holds[1]));
}

/* Each of these makes one system call, which shows that the count works. */
static void
ask_the_kernel(tsem *sem)
{
	(void)sem;
	(void)getppid();
}

static const struct {
	const char *name;
	void (*once)(tsem *sem);
} operations[] = {
	{"take", take_and_post},          {"try-take", try_take_and_post},
	{"acquire", acquire_and_release}, {"try-acquire", try_acquire_and_release},
	{"acquire-twice", acquire_twice}, {"getppid", ask_the_kernel},
};

int
main(int argc, char **argv)
{
	tsem *sem;
	if (argc != 4)
		return 2;
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(operations[i].name, argv[2]) != 0)
			continue;
		check("tsem_open", tsem_open(argv[1], 0, &sem));
		for (long n = strtol(argv[3], NULL, 10); n > 0; n--)
			operations[i].once(sem);
		tsem_close(sem);
		return 0;
	}
	return 2;
}
