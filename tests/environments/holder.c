/* SPDX-License-Identifier: MIT */
/*
 * holder NAME [ACTION]...: opens the semaphore, acquires a permit, does the actions one after the other, and waits until it
 * is killed.
 *
 *     open, close, acquire, release
 *     again          closes the handle, and uses and closes another one
 *     descriptors    closes every descriptor that it did not inherit
 *     child          leaves a child behind that does nothing
 *     exec           becomes `sleep 1000`
 *     FILE           makes the file
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tsem.h"

static int
use_again(const char *name)
{
	tsem *sem;
	tsem_hold hold;
	if (tsem_open(name, 0, &sem) < 0 || tsem_try_acquire(sem, 1, &hold) != -EAGAIN)
		return -1;
	tsem_close(sem);
	return 0;
}

static tsem *sem;
static tsem_hold hold;

static int
act(const char *action, const char *name)
{
	if (strcmp(action, "open") == 0)
		return tsem_open(name, 0, &sem);
	if (strcmp(action, "acquire") == 0)
		return tsem_acquire(sem, 1, NULL, &hold);
	if (strcmp(action, "release") == 0)
		return tsem_release(&hold);
	if (strcmp(action, "close") == 0 || strcmp(action, "again") == 0) {
		tsem_close(sem);
		return strcmp(action, "close") == 0 ? 0 : use_again(name);
	}
	if (strcmp(action, "descriptors") == 0) {
		for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
			close(fd);
		return 0;
	}
	if (strcmp(action, "child") == 0) {
		const pid_t child = fork();
		while (child == 0)
			pause();
		return child < 0 ? -1 : 0;
	}
	if (strcmp(action, "exec") == 0)
		return execlp("sleep", "sleep", "1000", NULL);
	return close(open(action, O_CREAT | O_WRONLY, 0666));
}

int
main(int argc, char **argv)
{
	if (argc < 2 || act("open", argv[1]) != 0 || act("acquire", argv[1]) != 0)
		return 1;
	for (int i = 2; i < argc; i++) {
		if (act(argv[i], argv[1]) != 0)
			return 1;
	}
	for (;;)
		pause();
}
