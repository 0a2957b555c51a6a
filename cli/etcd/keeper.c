/* SPDX-License-Identifier: MIT */
#include "etcd/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "etcd/lease.h"
#include "message.h"
#include "monotonic.h"
#include "refusal.h"
#include "spawn.h"
#include "termination.h"

/* Parts of the lifetime of the lease: how often `tsem run` looks, and how often it may see nothing. */
enum { LOOKS = 10, SILENT_MAX = 3 };

/* ---- starting ---- */

static bool
start(struct keeper *keeper)
{
	int sockets[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return false;
	const pid_t pid = fork();
	if (pid == 0) {
		keeper->socket = sockets[1];
		close(sockets[0]);
		keeper_main(keeper);
	}
	close(sockets[1]);
	if (pid < 0) {
		const int error = errno;
		close(sockets[0]);
		errno = error;
		return false;
	}
	keeper->pid = pid;
	keeper->socket = sockets[0];
	keeper->silent = 0;
	return true;
}

/*
 * A descriptor of tsem must not have the number of a standard one that is closed: a keeper would put another file there.
 * A command finds it closed all the same.
 */
static void
fill_standard_descriptors(void)
{
	int fd;
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void
keeper_prepare(struct keeper *keeper, const struct options *o, enum purpose purpose)
{
	fill_standard_descriptors();
	struct ledger *ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ledger == MAP_FAILED)
		die_error(o->name, -ENOMEM);
	ledger->lease = lease_choose();
	ledger->count = o->count;
	ledger->wrapper = getpid();
	*keeper = (struct keeper){.o = o, .purpose = purpose, .ledger = ledger};
	if (purpose == FOR_COMMAND || purpose == FOR_SELF)
		store_parse_names(&keeper->store, o->name);
	else
		store_parse_name(&keeper->store, o->name);
	if (keeper->store.names_n > 1 && o->count != 1)
		die(o->name, "-k needs a single semaphore (of several, run holds one permit each)");
	spawn_block_signals(&keeper->mask);
}

void
keeper_begin(struct keeper *keeper, pid_t command)
{
	keeper->command = command;
	keeper->process = (int)syscall(SYS_pidfd_open, command, 0U);
	if (keeper->process < 0 && (errno == ESRCH || errno == EINVAL /* a thread */))
		die_of_no_process(keeper->o);
	if (keeper->process < 0)
		die(keeper->o->name, "no descriptor for a process: %s (it needs Linux 5.3, and room in 'ulimit -n')",
		    strerror(errno));
	if (!start(keeper))
		die_of_fork(keeper->o, -errno);
}

/* ---- watching ---- */

static void
look_at_pulse(struct keeper *keeper)
{
	const uint64_t now = monotonic_ns();
	if (now < keeper->next_ns)
		return;
	/* By looks, not by time: the time also passes while both are stopped. */
	keeper->silent = keeper->beats == keeper->ledger->beats ? keeper->silent + 1 : 0;
	keeper->beats = keeper->ledger->beats;
	keeper->next_ns = now + keeper->o->ttl_s * NS_PER_SECOND / LOOKS;
}

/* The keeper is silent, or has ended. One that has exited by itself has said why. */
static enum news
replace(struct keeper *keeper, int *status)
{
	enum { PAUSE_MS = 100 }; /* bounds the rate, if something kills each of them */
	int how = 0;
	if (keeper->silent >= SILENT_MAX)
		kill(keeper->pid, SIGKILL);
	waitpid(keeper->pid, &how, 0);
	close(keeper->socket);
	keeper->socket = -1;
	keeper->pid = 0;
	if (WIFEXITED(how)) {
		*status = WEXITSTATUS(how);
		return NEWS_ENDED;
	}
	poll(NULL, 0, PAUSE_MS);
	return start(keeper) ? NEWS_RUNG : NEWS_FAILED;
}

enum news
keeper_wait(struct keeper *keeper, int fd, const sigset_t *mask, int *status)
{
	char byte;
	struct pollfd fds[] = {{.fd = keeper->socket, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	if (keeper->pid == 0 && fd < 0) {
		*status = EXIT_TSEM_FAILED;
		return NEWS_ENDED;
	}
	if (keeper->pid == 0) {
		poll(fds, 2, -1);
		return NEWS_NONE;
	}
	look_at_pulse(keeper);
	if (keeper->silent >= SILENT_MAX)
		return replace(keeper, status);
	const uint64_t now = monotonic_ns();
	const struct timespec timeout = to_timespec(keeper->next_ns > now ? keeper->next_ns - now : 0);
	if (ppoll(fds, 2, &timeout, mask) <= 0 || fds[0].revents == 0)
		return NEWS_NONE;
	return recv(keeper->socket, &byte, 1, 0) > 0 ? NEWS_RUNG : replace(keeper, status);
}

bool
keeper_is_for_owner(const struct keeper *keeper)
{
	return keeper->purpose == FOR_OWNER || keeper->purpose == FOR_SELF;
}

bool
keeper_process_has_ended(const struct keeper *keeper)
{
	struct pollfd end = {.fd = keeper->process, .events = POLLIN};
	return poll(&end, 1, 0) > 0;
}

void
keeper_ring(const struct keeper *keeper)
{
	send(keeper->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int
keeper_wait_for_grant(struct keeper *keeper)
{
	struct termination termination;
	enum news news = NEWS_NONE;
	int status = EXIT_TSEM_FAILED;
	termination_defer(&termination);
	while (!keeper->ledger->granted && termination_signal() == 0 && news < NEWS_ENDED)
		news = keeper_wait(keeper, -1, &keeper->mask, &status);
	termination_restore(&termination);
	if (termination_signal() != 0)
		return termination_signal();
	if (news == NEWS_FAILED)
		die_of_fork(keeper->o, -errno);
	if (news == NEWS_ENDED)
		exit(status);
	return 0;
}

void
keeper_dismiss(struct keeper *keeper, int signal)
{
	enum { PATIENCE_MS = 2000 };
	struct pollfd end = {.fd = keeper->socket};
	if (keeper->pid != 0) {
		shutdown(keeper->socket, SHUT_WR);
		if (poll(&end, 1, PATIENCE_MS) <= 0) /* until it has closed its end */
			kill(keeper->pid, SIGKILL);
		waitpid(keeper->pid, NULL, 0);
	}
	if (keeper->ledger->taken) /* the signal came too late */
		exit(EXIT_DONE);
	die_of_signal(signal);
	_exit(EXIT_SIGNAL_BASE + signal); /* process 1 of a PID namespace */
}
