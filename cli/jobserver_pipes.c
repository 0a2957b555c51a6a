/* SPDX-License-Identifier: MIT */
#include "jobserver_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Shells redirect the descriptors of one digit. */
enum { CLIENT_FDS = 10 };

/* The end of a pipe once more, with flags of its own: those of one description are shared by all who inherit it. */
static int
reopen(int fd, int flags)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/* Without O_CLOEXEC, in place of `fd`. */
static int
move_to_clients(int fd)
{
	const int moved = fcntl(fd, F_DUPFD, CLIENT_FDS);
	const int error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* Of one page: then one token fills it, and it is writable again when that was claimed. */
static bool
open_offers(struct token_pipes *pipes)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	pipes->offer = fds[1];
	pipes->client_read = fds[0];
	if (fcntl(fds[1], F_SETPIPE_SZ, 1) < 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
		return false;
	pipes->retract = reopen(fds[0], O_RDONLY | O_NONBLOCK);
	if (pipes->retract < 0)
		return false;
	pipes->client_read = move_to_clients(fds[0]);
	return pipes->client_read >= 0;
}

/* The clients' end is a reader, too: they can write into it after our death, and are not killed by SIGPIPE. */
static bool
open_returns(struct token_pipes *pipes)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	pipes->returned = fds[0];
	const int both = reopen(fds[0], O_RDWR);
	const int error = errno;
	close(fds[1]);
	errno = error;
	if (both >= 0)
		pipes->client_write = move_to_clients(both);
	return pipes->client_write >= 0;
}

int
token_pipes_open(struct token_pipes *pipes)
{
	*pipes = (struct token_pipes){-1, -1, -1, -1, -1};
	if (open_offers(pipes) && open_returns(pipes))
		return 0;
	const int error = errno;
	token_pipes_close(pipes);
	return -error;
}

void
token_pipes_close(struct token_pipes *pipes)
{
	const int fds[] = {pipes->offer, pipes->retract, pipes->returned, pipes->client_read, pipes->client_write};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

bool
token_is_unclaimed(const struct token_pipes *pipes)
{
	int bytes = 0;
	return ioctl(pipes->retract, FIONREAD, &bytes) == 0 && bytes > 0;
}

bool
token_offer(const struct token_pipes *pipes)
{
	return write(pipes->offer, "+", 1) == 1;
}

bool
token_retract(const struct token_pipes *pipes)
{
	char token;
	return read(pipes->retract, &token, 1) == 1;
}

size_t
token_count_returned(const struct token_pipes *pipes)
{
	char tokens[256];
	const ssize_t n = read(pipes->returned, tokens, sizeof(tokens));
	return n > 0 ? (size_t)n : 0;
}
