/* SPDX-License-Identifier: MIT */
/*
 * The command that `tsem run` runs in the sweep over whole commands: command_work STATUS [job]. It waits until its
 * standard input ends, and exits with STATUS. With `job` it first takes a token of the jobserver and returns it, as
 * make does.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False if there is no jobserver. */
static bool
find_jobserver(int fds[2])
{
	const char *flags = getenv("MAKEFLAGS");
	const char *auth = flags == NULL ? NULL : strstr(flags, "--jobserver-auth=");
	if (auth == NULL)
		return false;
	auth += strlen("--jobserver-auth=");
	if (strncmp(auth, "fifo:", 5) != 0)
		return sscanf(auth, "%d,%d", &fds[0], &fds[1]) == 2;
	char path[256];
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(auth + 5, " "), auth + 5);
	fds[0] = fds[1] = open(path, O_RDWR | O_NOCTTY);
	return fds[0] >= 0;
}

/* If tsem was killed, no token comes: then there is no job, as with make. */
static bool
do_job(void)
{
	int fds[2];
	char token;
	if (!find_jobserver(fds))
		return false;
	struct pollfd pollfds[2] = {{.fd = fds[0], .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	if (poll(pollfds, 2, -1) <= 0 || (pollfds[0].revents & POLLIN) == 0)
		return true;
	return read(fds[0], &token, 1) == 1 && write(fds[1], &token, 1) == 1;
}

int
main(int argc, char **argv)
{
	char byte;
	if (argc < 2 || (argc > 2 && !do_job()))
		return 99;
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return atoi(argv[1]);
}
