/* SPDX-License-Identifier: MIT */
/* The main() of tsem-view and tsem-top: the command executes them with its own words. */
#include <locale.h>
#include <string.h>

#include "dispatch.h"
#include "message.h"
#include "view.h"

int
main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* the width of a character depends on it */
	for (const struct view_verb *row = view_verbs; argc > 1 && row->verb != NULL; row++) {
		if (strcmp(row->verb->name, argv[1]) == 0)
			return dispatch(row->verb, row->run, argc - 1, argv + 1);
	}
	die(NULL, "this is a part of tsem (see 'tsem --help')");
}
