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
	options_parse(verb, argc, argv, &o);
	require_stdout(o.name);
	return view_run(verb, &o);
}

int
main(int argc, char **argv)
{
	for (const struct verb *const *verb = view_verbs; argc > 1 && *verb != NULL; verb++) {
		if (strcmp((*verb)->name, argv[1]) == 0)
			return (*verb)->run(*verb, argc - 1, argv + 1);
	}
	die(NULL, "this is a part of tsem (see 'tsem --help')");
}
