/* SPDX-License-Identifier: MIT */
/* The main() of the programs other than tsem itself, which executes them with its own words. */
#include <locale.h>

#include "dispatch.h"
#include "message.h"

int
main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* the width of a character depends on it */
	const struct verb *verb = argc > 1 ? verb_find(argv[1]) : NULL;
	if (verb == NULL)
		die(NULL, "this is a part of tsem (see 'tsem --help')");
	return dispatch(verb, argc, argv);
}
