/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include <string.h>

#include "help.h"
#include "message.h"
#include "program.h"

static const struct action *
find_action(const struct verb *verb)
{
	const struct action *action = this_program.actions;
	while (action->run != NULL && action->id != verb->id)
		action++;
	return action;
}

/* Only another program of tsem calls a program with words that it cannot follow, or a user who tries its parts. */
static int
run_or_become(const struct verb *verb, const struct options *o, char **argv)
{
	const struct action *action = find_action(verb);
	if (action->run != NULL)
		return action->run(o);
	if (verb->program == NULL || strcmp(verb->program, this_program.name) == 0)
		die(NULL, "this is a part of tsem (see 'tsem --help')");
	become_program(verb->program, verb, argv);
}

int
dispatch(const struct verb *verb, int argc, char **argv)
{
	const struct options *o = options_parse(verb, argc - 1, argv + 1);
	if (!o->help && !o->version)
		return run_or_become(verb, o, argv);
	if (o->help)
		print_help(verb);
	else
		print_version();
	flush_stdout(NULL);
	return EXIT_DONE;
}
