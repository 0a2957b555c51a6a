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

/* A failure of one name, which has been reported, does not keep the others from their turn. */
static int
run_for_name(const struct verb_runner *action, const struct options *o, const char *name)
{
	struct options one = *o;
	jmp_buf failed;
	one.name = name;
	message_jump_to(&failed);
	const int status = setjmp(failed) == 0 ? action->run(&one) : EXIT_TSEM_FAILED;
	message_jump_to(NULL);
	return status;
}

/* Returns the first status that is not 0. */
static int
run_for_names(const struct verb_runner *action, const struct options *o)
{
	int status = EXIT_DONE;
	for (size_t i = 0; i < o->names_n; i++) {
		const int of_name = run_for_name(action, o, o->names[i]);
		if (status == EXIT_DONE)
			status = of_name;
	}
	return status;
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
	return verb->operands == OPERANDS_NAMES && o->names_n > 0 ? run_for_names(action, o) : action->run(o);
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
