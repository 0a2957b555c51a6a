/* SPDX-License-Identifier: MIT */
#include "container.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moment.h"
#include "support.h"

struct container_state {
	pid_t first; /* process 1 inside; 0: there is none */
	atomic_int error;
	atomic_bool has_proc;
	atomic_bool is_ready;
};

/* Without privilege, the root user of a user namespace may create the others. */
static bool
enter_namespaces(void)
{
	const int others = CLONE_NEWPID | CLONE_NEWNS;
	return (unshare(others) == 0 || unshare(CLONE_NEWUSER | others) == 0)
	       && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static _Noreturn void
be_first(struct container_state *state)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount("proc", "/proc", "proc", 0, NULL) != 0)
		atomic_store(&state->error, errno);
	atomic_store(&state->has_proc, true);
	for (;;)
		pause();
}

/* Returns 0 or an errno. */
static int
prepare(struct container_state *state)
{
	if (!enter_namespaces())
		return errno;
	const pid_t first = fork();
	if (first < 0)
		return errno;
	if (first == 0)
		be_first(state);
	state->first = first;
	await(is_set, &state->has_proc, "process 1 of a container");
	return atomic_load(&state->error);
}

static _Noreturn void
keep(struct container_state *state, void (*populate)(void *arg), void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	const int error = prepare(state);
	if (error == 0)
		populate(arg);
	atomic_store(&state->error, error);
	atomic_store(&state->is_ready, true);
	while (waitpid(-1, NULL, 0) > 0) { /* process 1 ends only when all others inside are waited for */
	}
	_exit(0);
}

int
container_start(struct container *container, void (*populate)(void *arg), void *arg)
{
	struct container_state *state = container->state = shared_memory(sizeof(*state));
	container->keeper = fork();
	if (container->keeper < 0)
		die("fork");
	if (container->keeper == 0)
		keep(state, populate, arg);
	await(is_set, &state->is_ready, "a container");
	return atomic_load(&state->error);
}

void
container_end(struct container *container)
{
	if (container->state->first != 0)
		kill(container->state->first, SIGKILL);
	waitpid(container->keeper, NULL, 0);
	munmap(container->state, sizeof(*container->state));
}
