/* SPDX-License-Identifier: MIT */
/* A program that the command becomes for some of its verbs, with the same words behind it. */
#include "view.h"

#include <locale.h>
#include <string.h>

int
cmd_view(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	setlocale(LC_CTYPE, ""); /* the width of what is printed depends on it */
	int status = options_parse(verb, argc, argv, &o);
	if (status < 0)
		status = check_stdout(o.name) == EXIT_DONE ? -1 : EXIT_TSEM_FAILED;
	return status < 0 ? view_run(verb, &o) : status;
}

int
main(int argc, char **argv)
{
	for (const struct verb *const *verb = view_verbs; argc > 1 && *verb != NULL; verb++) {
		if (strcmp((*verb)->name, argv[1]) == 0)
			return (*verb)->run(*verb, argc - 1, argv + 1);
	}
	return complain(NULL, "this is a part of tsem (see 'tsem --help')");
}
