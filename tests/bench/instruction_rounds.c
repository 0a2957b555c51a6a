/* SPDX-License-Identifier: MIT */
/*
 * instruction_rounds ROUNDS: uncontended rounds of take and post, and of acquire and release, each on a semaphore of
 * its own. tests/bench/instructions counts the instructions of one of them under valgrind. It takes the difference
 * between two numbers of rounds, so that the first rounds, which are cold, do not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tsem.h"

static void
require(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "instruction_rounds: %s: %d\n", what, rc);
	exit(1);
}

static tsem *
create(const char *name)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = 1};
	tsem *sem;
	require(tsem_create(name, &config, &sem), "tsem_create");
	return sem;
}

int
main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	char anonymous_name[48];
	char owned_name[48];
	tsem_hold hold;
	snprintf(anonymous_name, sizeof(anonymous_name), "instructions-%ld-a", (long)getpid());
	snprintf(owned_name, sizeof(owned_name), "instructions-%ld-o", (long)getpid());
	tsem *anonymous = create(anonymous_name);
	tsem *owned = create(owned_name);
	for (unsigned long i = 0; i < rounds; i++) {
		require(tsem_take(anonymous, 1, NULL), "tsem_take");
		require(tsem_post(anonymous, 1, NULL), "tsem_post");
		require(tsem_acquire(owned, 1, NULL, &hold), "tsem_acquire");
		require(tsem_release(&hold), "tsem_release");
	}
	tsem_close(anonymous);
	tsem_close(owned);
	require(tsem_remove(anonymous_name, 0), "tsem_remove");
	require(tsem_remove(owned_name, 0), "tsem_remove");
	return 0;
}
