/* SPDX-License-Identifier: MIT */
/*
 * crowd NAME N: N threads wait for a permit of the semaphore, until the process is killed. It prints a line when all
 * have begun.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tsem.h"

static void *
wait_in_queue(void *arg)
{
	tsem_hold hold;
	const int rc = tsem_acquire(arg, 1, NULL, &hold);
	fprintf(stderr, "crowd: the wait has ended: %s\n", strerror(-rc));
	_exit(1);
}

int
main(int argc, char **argv)
{
	enum { STACK_BYTES = 65536 };
	tsem *sem;
	pthread_attr_t attributes;
	if (argc != 3 || tsem_open(argv[1], 0, &sem) != 0)
		return 2;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int n = atoi(argv[2]); n > 0; n--) {
		pthread_t thread;
		const int rc = pthread_create(&thread, &attributes, wait_in_queue, sem);
		if (rc != 0) {
			printf("%s\n", strerror(rc));
			return 3;
		}
	}
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
