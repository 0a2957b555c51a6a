/* SPDX-License-Identifier: MIT */
/*
 * leaderless NAME: acquires a permit, and then its main thread ends while another one lives on. That one ends the
 * process when it reads something, or nothing any more, from standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tsem.h"

/* Not on the stack of the thread that ends: a leak checker would not find them there. */
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
