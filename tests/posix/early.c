/* SPDX-License-Identifier: MIT */
/* Linked with early_library.c, whose handler runs in the child. */
#include <sys/wait.h>
#include <unistd.h>

#include "early_library.h"

int
main(void)
{
	int status = 1;
	const pid_t child = fork();
	if (child == 0) {
		alarm(30);
		_exit(0);
	}
	return !has_begun || child < 0 || waitpid(child, &status, 0) != child || status != 0;
}
