/* SPDX-License-Identifier: MIT */
/* A user's first program; compiled as C11 and as C++17 with the installed library. */
#include <tsem.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(void)
{
	struct tsem_config config;
	struct tsem_stat stat;
	struct tsem_wait wait;
	tsem *sem;
	tsem_hold hold = TSEM_HOLD_INIT;
	char name[64];
	int rc;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.permits = 2;
	memset(&stat, 0, sizeof(stat));
	stat.size = sizeof(stat);
	memset(&wait, 0, sizeof(wait));
	wait.size = sizeof(wait);
	wait.flags = TSEM_INTERRUPTIBLE;

	snprintf(name, sizeof(name), "test.user.%d", (int)getpid());
	rc = tsem_create(name, &config, &sem);
	if (rc != 0) {
		fprintf(stderr, "tsem_create: %s\n", strerror(-rc));
		return 1;
	}
	rc = tsem_remove(name, TSEM_FORCE) != 0 || tsem_open(name, 0, &sem) == 0;
	tsem_close(sem);
	rc |= tsem_create(name, &config, &sem) != 0;
	rc |= tsem_acquire_wait(sem, 2, &wait, &hold) != 0 || tsem_stat(sem, &stat) != 0 || stat.held != 2;
	rc |= tsem_release(&hold) != 0 || tsem_take(sem, 1, NULL) != 0 || tsem_post(sem, 1, NULL) != 0;
	rc |= tsem_remove(name, rc == 0 ? 0 : TSEM_FORCE) != 0;
	tsem_close(sem);
	return rc;
}
