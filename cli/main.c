/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "dispatch.h"
#include "help.h"
#include "program.h"
#include "view.h"

static int cmd_help(const struct options *o);

/* clang-format off */
static const struct verb *const verbs[] = {
	&(const struct verb){.id = VERB_RUN, .name = "run", .words = "NAME[,NAME]... [--] COMMAND [ARG]...",
	 .summary = "Hold permits while a command runs. With -j, create the semaphore if it does not exist.",
	 .operands = OPERANDS_NAME_AND_COMMAND, .run = cmd_run},
	&(const struct verb){.id = VERB_CREATE, .name = "create", .words = "NAME",
	 .summary = "Create a semaphore with N permits.",
	 .operands = OPERANDS_NAME, .run = cmd_create},
	&(const struct verb){.id = VERB_TAKE, .name = "take", .words = "NAME",
	 .summary = "Take permits without recording a holder; 'tsem post' gives them back.",
	 .operands = OPERANDS_NAME, .run = cmd_take},
	&(const struct verb){.id = VERB_POST, .name = "post", .words = "NAME",
	 .summary = "Give back permits that were taken, or add new ones.",
	 .operands = OPERANDS_NAME, .run = cmd_post},
	&(const struct verb){.id = VERB_ACQUIRE, .name = "acquire", .words = "NAME",
	 .summary = "Hold permits for process PID until it ends or 'tsem release' gives them back.",
	 .operands = OPERANDS_NAME, .run = cmd_acquire},
	&(const struct verb){.id = VERB_RELEASE, .name = "release", .words = "NAME",
	 .summary = "Give back the newest hold that 'tsem acquire' made for process PID.",
	 .operands = OPERANDS_NAME, .run = cmd_release},
	&show_verb,
	&list_verb,
	&top_verb,
	&(const struct verb){.id = VERB_SET, .name = "set", .words = "NAME",
	 .summary = "Change the capacity; 0 drains. Holders keep their permits.",
	 .operands = OPERANDS_NAME, .run = cmd_set},
	&(const struct verb){.id = VERB_WAIT, .name = "wait", .words = "NAME",
	 .summary = "Wait until there are no holders and no waiters.",
	 .operands = OPERANDS_NAME, .run = cmd_wait},
	&(const struct verb){.id = VERB_CANCEL, .name = "cancel", .words = "NAME",
	 .summary = "Cancel all waiters, or those of one process; they exit with status 75.",
	 .operands = OPERANDS_NAME, .run = cmd_cancel},
	&(const struct verb){.id = VERB_RECOVER, .name = "recover", .words = "NAME",
	 .summary = "Recover the permits of dead holders now, or declare one dead; print how many.",
	 .operands = OPERANDS_NAME, .run = cmd_recover},
	&(const struct verb){.id = VERB_REMOVE, .name = "remove", .words = "NAME",
	 .summary = "Remove a semaphore that is not in use.",
	 .operands = OPERANDS_NAME, .run = cmd_remove},
	&(const struct verb){.id = VERB_HELP, .name = "help", .words = "[VERB]",
	 .summary = "Explain a verb, or list all verbs.",
	 .operands = OPERANDS_OPTIONAL_NAME, .run = cmd_help},
};
/* clang-format on */

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void
print_usage(void)
{
	printf("Usage: tsem VERB [OPTION]... [NAME] ...\n\n"
	       "Semaphores for processes: first come, first served; permits of dead holders come back.\n"
	       "Run at most three commands at a time: tsem run -j 3 NAME -- COMMAND\n\nVerbs:\n");
	for (size_t i = 0; i < VERBS; i++)
		printf("  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
	printf("\n'tsem VERB --help' explains one verb, tsem(1) explains all.\n");
}

static const struct verb *
find_verb(const char *word)
{
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(word, verbs[i]->name) == 0)
			return verbs[i];
	}
	return NULL;
}

/* `word`: a verb, or NULL for the list of all. */
static void
explain(const char *word)
{
	const struct verb *verb = word == NULL ? NULL : find_verb(word);
	if (word != NULL && verb == NULL)
		die(NULL, "unknown verb '%s' (see 'tsem --help')", word);
	if (verb != NULL)
		print_help(verb);
	else
		print_usage();
}

static int
cmd_help(const struct options *o)
{
	explain(o->name);
	flush_stdout(NULL);
	return EXIT_DONE;
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		die(NULL, "a verb is missing (see 'tsem --help')");
	const char *word = argv[1];
	const struct verb *verb = find_verb(word);
	if (verb != NULL && verb->program != NULL)
		become_program(verb, argv);
	if (verb != NULL)
		return dispatch(verb, verb->run, argc - 1, argv + 1);
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
		explain(argc > 2 && argv[2][0] != '-' ? argv[2] : NULL);
	else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
		print_version();
	else
		die(NULL, "unknown %s '%s' (see 'tsem --help')", word[0] == '-' ? "option" : "verb", word);
	flush_stdout(NULL);
	return EXIT_DONE;
}
