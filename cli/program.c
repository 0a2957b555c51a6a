/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "message.h"

/* In a build directory, the programs lie beside the command. */
static void
execute_beside(const char *program, char **argv)
{
	char directory[PATH_MAX];
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);
	if (length <= 0)
		return;
	directory[length] = '\0';
	*strrchr(directory, '/') = '\0';
	if (snprintf(path, sizeof(path), "%s/%s", directory, program) < (int)sizeof(path))
		execv(path, argv);
}

void
become_program(const struct verb *verb, char **argv)
{
	char path[PATH_MAX];
	execute_beside(verb->program, argv);
	snprintf(path, sizeof(path), "%s/%s", TSEM_PROGRAM_DIR, verb->program);
	execv(path, argv);
	die(NULL, "cannot start '%s', which does the work of 'tsem %s': %s (install tsem again)", path, verb->name,
	    strerror(errno));
}
