/* SPDX-License-Identifier: MIT */
/*
 * leaderless NAME: acquires a permit, then ends its main thread while another thread lives. That thread ends the
 * process when standard input has a byte or ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tsem.h"

/* Global, because a leak checker does not search the stack of a thread that has ended. */
static pthread_t leader;
static tsem *sem;
static tsem_hold hold;

static void *
outlive(void *arg)
{
	char byte;
	(void)arg;
	pthread_join(leader, NULL);
	puts("alone");
	fflush(stdout);
	(void)!read(STDIN_FILENO, &byte, 1);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t other;
	if (argc != 2)
		return 2;
	int rc = tsem_open(argv[1], 0, &sem);
	if (rc == 0)
		rc = tsem_try_acquire(sem, 1, &hold);
	if (rc != 0) {
		fprintf(stderr, "leaderless: %s\n", strerror(-rc));
		return 1;
	}
	leader = pthread_self();
	if (pthread_create(&other, NULL, outlive, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
