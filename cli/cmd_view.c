/* SPDX-License-Identifier: MIT */
/*
 * Becomes the program that prints tables, or the one that draws on the screen. libsmartcols and its like take longer to
 * load than the whole of `tsem run` takes otherwise; only `show` and `list` need them, and only `top` needs curses, too.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "view.h"

#define TABLES "tsem-view"
#define SCREEN "tsem-top"

/* Beside the command itself, as in a build directory. */
static void
execute_beside(const char *program, char **argv)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(TABLES));
	if (length <= 0)
		return;
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, program); /* fits: room was left for it */
	execv(path, argv);
}

int
cmd_view(const struct verb *verb, int argc, char **argv)
{
	const char *program = verb == &top_verb ? SCREEN : TABLES;
	char path[PATH_MAX];
	(void)argc;
	snprintf(path, sizeof(path), "%s/%s", TSEM_PROGRAM_DIR, program);
	argv--; /* the words of main(), with the verb's name as the second */
	execute_beside(program, argv);
	execv(path, argv);
	die(NULL, "cannot start '%s', which does the work of 'tsem %s': %s (install tsem again)", path, verb->name,
	    strerror(errno));
}
