/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "help.h"
#include "view.h"

static int cmd_help(const struct verb *verb, int argc, char **argv);

/* clang-format off */
static const struct verb *const verbs[] = {
	&(const struct verb){"run", "NAME[,NAME]... [--] COMMAND [ARG]...",
	 "Hold permits while a command runs. With -j, create the semaphore if there is none.",
	 (const int[]){'j', 'k', 'n', 'w', 'E', OPT_ANY, OPT_ON_RECOVERED, OPT_JOBSERVER, OPT_JOBSERVER_STYLE, 'v', OPT_FOREIGN, 'c', 0}, OPERANDS_NAME_AND_COMMAND, 0, 'c', NULL, cmd_run},
	&(const struct verb){"create", "NAME",
	 "Create a semaphore with N permits.",
	 (const int[]){'j', OPT_MAX, 'm', OPT_EXIST_OK, OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_create},
	&(const struct verb){"take", "NAME",
	 "Take permits that nobody is recorded for: 'tsem post' gives them back.",
	 (const int[]){'k', 'n', 'w', 'E', 'v', OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_take},
	&(const struct verb){"post", "NAME",
	 "Give back permits that were taken, or add new ones.",
	 (const int[]){'k', 'p', OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_post},
	&(const struct verb){"acquire", "NAME",
	 "Hold permits for the process PID, until it dies or releases them.",
	 (const int[]){OPT_OWNER, 'k', 'n', 'w', 'E', 'v', OPT_FOREIGN, 0}, OPERANDS_NAME, OPT_OWNER, 0, NULL, cmd_acquire},
	&(const struct verb){"release", "NAME",
	 "Give back the newest hold that 'tsem acquire' made for the process PID.",
	 (const int[]){OPT_OWNER, OPT_FOREIGN, 0}, OPERANDS_NAME, OPT_OWNER, 0, NULL, cmd_release},
	&show_verb,
	&list_verb,
	&top_verb,
	&(const struct verb){"set", "NAME",
	 "Change the capacity; 0 drains. Nobody loses a permit.",
	 (const int[]){'j', OPT_FOREIGN, 0}, OPERANDS_NAME, 'j', 0, NULL, cmd_set},
	&(const struct verb){"wait", "NAME",
	 "Wait until nobody holds and nobody waits.",
	 (const int[]){OPT_HOLDERS, 'n', 'w', 'E', 'v', OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_wait},
	&(const struct verb){"cancel", "NAME",
	 "Let everybody who waits give up, with exit status 75.",
	 (const int[]){OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_cancel},
	&(const struct verb){"recover", "NAME",
	 "Give back what dead processes held, and print how many permits came back.",
	 (const int[]){OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_recover},
	&(const struct verb){"remove", "NAME",
	 "Remove a semaphore that nobody uses.",
	 (const int[]){'f', OPT_FOREIGN, 0}, OPERANDS_NAME, 0, 0, NULL, cmd_remove},
	&(const struct verb){"help", "[VERB]",
	 "Explain a verb, or list them all.",
	 (const int[]){0}, OPERANDS_OPTIONAL_NAME, 0, 0, NULL, cmd_help},
};
/* clang-format on */

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void
print_usage(void)
{
	printf("Usage: tsem VERB [OPTION]... [NAME] ...\n\n"
	       "Semaphores between processes: first come, first served; what the dead held comes back.\n"
	       "At most three such commands at a time: tsem run -j 3 NAME -- COMMAND\n\nVerbs:\n");
	for (size_t i = 0; i < VERBS; i++)
		printf("  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
	printf("\n'tsem VERB --help' explains a verb, tsem(1) all of them.\n");
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

static int
cmd_help(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	options_parse(verb, argc, argv, &o);
	if (o.name != NULL && (verb = find_verb(o.name)) == NULL)
		die(NULL, "unknown verb '%s' (see 'tsem --help')", o.name);
	if (o.name != NULL)
		print_help(verb);
	else
		print_usage();
	flush_stdout(NULL);
	return EXIT_DONE;
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		die(NULL, "which verb? (see 'tsem --help')");
	const char *word = argv[1];
	const struct verb *verb = find_verb(word);
	if (verb != NULL)
		return verb->run(verb, argc - 1, argv + 1);
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
		print_usage();
	else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
		print_version();
	else
		die(NULL, "unknown %s '%s' (see 'tsem --help')", word[0] == '-' ? "option" : "verb", word);
	flush_stdout(NULL);
	return EXIT_DONE;
}
