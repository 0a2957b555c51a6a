/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include "help.h"
#include "message.h"

int
dispatch(const struct verb *verb, int (*run)(const struct options *o), int argc, char **argv)
{
	const struct options *o = options_parse(verb, argc, argv);
	if (!o->help && !o->version)
		return run(o);
	if (o->help)
		print_help(verb);
	else
		print_version();
	flush_stdout(NULL);
	return EXIT_DONE;
}
