/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include <string.h>

#include "help.h"
#include "message.h"
#include "program.h"

static const struct verb_runner *
find_action(const struct verb *verb)
{
	const struct verb_runner *action = this_program.actions;
	while (action->run != NULL && action->id != verb->id)
		action++;
	return action;
}

static const char *
program_of(const struct verb *verb, const struct options *o)
{
	if (o->remote)
		return ETCD_PROGRAM;
	return verb->program != NULL ? verb->program : "tsem";
}

static int
run_or_become(const struct verb *verb, const struct options *o, char **argv)
{
	const char *program = program_of(verb, o);
	const struct verb_runner *action = find_action(verb);
	if (strcmp(program, this_program.name) != 0 && strcmp(program, "tsem") != 0)
		become_program(program, verb, argv);
	if (strcmp(program, this_program.name) != 0)
		die(NULL, "this is a part of tsem (see 'tsem --help')");
	if (action->run == NULL)
		die(o->name, "'%s' does not work for a semaphore on etcd (see tsem-etcd(7))", verb->name);
	return action->run(o);
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
