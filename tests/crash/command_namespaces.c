/* SPDX-License-Identifier: MIT */
#include "command_namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool well = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return well;
}

static bool
map_id(const char *path, unsigned id)
{
	char map[32];
	snprintf(map, sizeof(map), "0 %u 1", id);
	return write_file(path, map);
}

/* Without privilege, the root user of a user namespace may do the same. */
static bool
enter_namespaces(void)
{
	const unsigned uid = (unsigned)getuid();
	const unsigned gid = (unsigned)getgid();
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) == 0)
		return true;
	return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 && write_file("/proc/self/setgroups", "deny")
	       && map_id("/proc/self/uid_map", uid) && map_id("/proc/self/gid_map", gid);
}

static bool
mount_file_systems(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("proc", "/proc", "proc", 0, NULL) == 0
	       && mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
}

static int
wait_for(pid_t pid)
{
	int status = 1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

enum { EXIT_REFUSED = 76 };

static int
work_inside(int (*work)(bool alone, void *arg), void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* the orphans of a dead command become children of this process */
	return work(true, arg);
}

/* The process that calls unshare() stays outside the PID namespace; its child is process 1 in it. */
static int
run_inside(int (*work)(bool alone, void *arg), void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!enter_namespaces())
		return EXIT_REFUSED;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(mount_file_systems() ? work_inside(work, arg) : EXIT_REFUSED);
	return pid < 0 ? EXIT_REFUSED : wait_for(pid);
}

int
namespaces_run(int (*work)(bool alone, void *arg), void *arg)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(run_inside(work, arg));
	const int status = pid < 0 ? EXIT_REFUSED : wait_for(pid);
	if (status != EXIT_REFUSED)
		return status;
	printf("namespaces are refused here: the sweep runs beside everything else\n");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		_exit(work(false, arg));
	}
	return pid < 0 ? 1 : wait_for(pid);
}
