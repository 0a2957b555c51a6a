/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "message.h"

/* Where the program is not executed, and why. */
struct failure {
	char path[PATH_MAX];
	int error;
};

/* Returns if it fails. A program that is absent here may be elsewhere, so any other error is the one to report. */
static void
execute(const char *directory, const char *program, char **argv, struct failure *failure)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof(path), "%s/%s", directory, program) >= (int)sizeof(path))
		return;
	execv(path, argv);
	if (failure->error != 0 && failure->error != ENOENT)
		return;
	failure->error = errno;
	memcpy(failure->path, path, sizeof(path));
}

/* In a build directory, the programs lie beside the command. An installed prefix may have been moved. */
static void
execute_near(const char *program, char **argv, struct failure *failure)
{
	static const char libexec[] = "/../libexec/tsem";
	char directory[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - sizeof(libexec));
	if (length <= 0)
		return;
	directory[length] = '\0';
	*strrchr(directory, '/') = '\0';
	execute(directory, program, argv, failure);
	strcat(directory, libexec);
	execute(directory, program, argv, failure);
}

static const char *
advice(const char *program, int error)
{
	if (error == EACCES)
		return "let this user search its folders and execute it";
	return strcmp(program, ETCD_PROGRAM) == 0 ? "install the package " ETCD_PROGRAM
	                                            ", or build tsem with libcurl, nettle and libuuid"
	                                          : "install tsem again";
}

void
become_program(const char *program, const struct verb *verb, char **argv)
{
	struct failure failure = {.error = 0};
	execute_near(program, argv, &failure);
	execute(TSEM_PROGRAM_DIR, program, argv, &failure);
	die(NULL, "cannot start '%s', which does the work of 'tsem %s': %s (%s)", failure.path, verb->name,
	    strerror(failure.error), advice(program, failure.error));
}
