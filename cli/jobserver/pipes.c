/* SPDX-License-Identifier: MIT */
#include "jobserver/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <termios.h>
#include <unistd.h>

enum { CLIENT_FDS = 10 }; /* scripts use the descriptors of one digit for redirections */

/* Opens the end of a pipe again, because the clients share the flags of the first open file description. */
static int
reopen(int fd, int flags)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/* Commands inherit the copy. A number above the limit of open files is EINVAL to the kernel. */
static int
copy_for_clients(int fd)
{
	const int copy = fcntl(fd, F_DUPFD, CLIENT_FDS);
	errno = copy < 0 && errno == EINVAL ? EMFILE : errno;
	return copy;
}

/* Closes `fd`. */
static int
move_to_clients(int fd)
{
	const int moved = copy_for_clients(fd);
	const int error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* A pipe of one page is full with one token, and becomes writable when a client claims it. */
static bool
open_offers(struct token_pipes *pipes)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	pipes->offer = fds[1];
	pipes->clients[0] = fds[0];
	if (fcntl(fds[1], F_SETPIPE_SZ, 1) < 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
		return false;
	pipes->retract = reopen(fds[0], O_RDONLY | O_NONBLOCK);
	if (pipes->retract < 0)
		return false;
	pipes->clients[0] = move_to_clients(fds[0]);
	return pipes->clients[0] >= 0;
}

/* The clients' end is open for reading as well: after our death, writing into it does not raise SIGPIPE. */
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
		pipes->clients[1] = move_to_clients(both);
	return pipes->clients[1] >= 0;
}

static bool
open_two(struct token_pipes *pipes)
{
	if (!open_offers(pipes) || !open_returns(pipes))
		return false;
	snprintf(pipes->auth, sizeof(pipes->auth), "%d,%d", pipes->clients[0], pipes->clients[1]);
	return true;
}

/* ---- a pseudo-terminal ---- */

/* Without raw mode, the terminal would echo tokens, edit them, and turn some into signals. */
static bool
make_raw(int terminal)
{
	struct termios settings;
	if (tcgetattr(terminal, &settings) != 0)
		return false;
	cfmakeraw(&settings);
	return tcsetattr(terminal, TCSANOW, &settings) == 0;
}

/* Without inotify, poll() finds claims only at its next timeout. */
static int
watch_reads(const char *path)
{
	const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0 || inotify_add_watch(fd, path, IN_ACCESS) >= 0)
		return fd;
	close(fd);
	return -1;
}

/* It may become the controlling terminal of a client that leads a session. That is harmless: it sends no signals. */
static bool
open_terminal(struct token_pipes *pipes)
{
	char path[32];
	pipes->is_terminal = true;
	pipes->offer = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (pipes->offer < 0 || fcntl(pipes->offer, F_SETFL, O_NONBLOCK) < 0 || grantpt(pipes->offer) != 0
	    || unlockpt(pipes->offer) != 0)
		return false;
	const int error = ptsname_r(pipes->offer, path, sizeof(path));
	errno = error != 0 ? error : errno;
	if (error != 0)
		return false;
	pipes->retract = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (pipes->retract < 0 || !make_raw(pipes->retract))
		return false;
	pipes->returned = fcntl(pipes->offer, F_DUPFD_CLOEXEC, 0);
	pipes->clients[0] = pipes->returned < 0 ? -1 : copy_for_clients(pipes->offer);
	pipes->reads = watch_reads(path);
	snprintf(pipes->auth, sizeof(pipes->auth), "fifo:%s", path);
	return pipes->clients[0] >= 0;
}

/* ---- both ---- */

int
token_pipes_open(struct token_pipes *pipes, enum jobserver_style style)
{
	*pipes = (struct token_pipes){.offer = -1, .retract = -1, .returned = -1, .reads = -1, .clients = {-1, -1}};
	if (style == JOBSERVER_FIFO ? open_terminal(pipes) : open_two(pipes))
		return 0;
	const int error = errno;
	token_pipes_close(pipes);
	return -error;
}

void
token_pipes_close(struct token_pipes *pipes)
{
	const int fds[] = {pipes->offer, pipes->retract,    pipes->returned,
	                   pipes->reads, pipes->clients[0], pipes->clients[1]};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* By poll(), because FIONREAD misses what is still on its way through a terminal. */
bool
token_is_unclaimed(const struct token_pipes *pipes)
{
	struct pollfd retract = {.fd = pipes->retract, .events = POLLIN};
	return poll(&retract, 1, 0) == 1 && (retract.revents & POLLIN) != 0;
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

void
token_acknowledge_events(const struct token_pipes *pipes)
{
	char seen[1024];
	while (pipes->reads >= 0 && read(pipes->reads, seen, sizeof(seen)) > 0)
		;
}

void
token_events(const struct token_pipes *pipes, bool offered, struct pollfd fds[TOKEN_EVENTS])
{
	fds[0] = (struct pollfd){.fd = pipes->returned, .events = POLLIN};
	fds[1] = pipes->is_terminal ? (struct pollfd){.fd = pipes->reads, .events = POLLIN}
	                            : (struct pollfd){.fd = pipes->offer, .events = POLLOUT};
	if (!offered)
		fds[1].fd = -1;
}
