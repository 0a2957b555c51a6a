/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* clang-format off */
static const struct verb verbs[] = {
	{"create", " [-j N] [--max M] [-m MODE] [--exist-ok] NAME",
	 "Create a semaphore with N permits.",
	 (const int[]){'j', OPT_MAX, 'm', OPT_EXIST_OK, OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_create},
	{"take", " [-k K] [-n | -w DUR] [-v] NAME",
	 "Take permits that nobody is recorded for: 'tsem post' gives them back.",
	 (const int[]){'k', 'n', 'w', 'E', 'v', OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_take},
	{"post", " [-k K] [-p] NAME",
	 "Give permits to whom they are due.",
	 (const int[]){'k', 'p', OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_post},
	{"acquire", " --owner PID [-k K] [-n | -w DUR] [-v] NAME",
	 "Hold permits for the process PID, until it dies or releases them.",
	 (const int[]){OPT_OWNER, 'k', 'n', 'w', 'E', 'v', OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_acquire},
	{"release", " --owner PID NAME",
	 "Give back the newest hold that 'tsem acquire' made for the process PID.",
	 (const int[]){OPT_OWNER, OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_release},
	{"run", " [-j N] [-k K] [-n | -w DUR] [-v] NAME [--] COMMAND [ARG]...\n"
	 "       tsem run [OPTION]... NAME -c 'SHELL COMMAND'",
	 "Hold permits while a command runs. With -j, create the semaphore if there is none.",
	 (const int[]){'j', 'k', 'n', 'w', 'E', 'v', 'c', OPT_FOREIGN, 0}, OPERANDS_NAME_AND_COMMAND, cmd_run},
	{"show", " [-J] [--stats] [-o COLS] NAME",
	 "Show a semaphore: its state, who holds, and who waits, in the order of the queue.",
	 (const int[]){'J', OPT_STATS, 'o', OPT_NOHEADINGS, OPT_RAW, 0}, OPERANDS_NAME, cmd_view},
	{"list", " [-J] [-o COLS]",
	 "List all semaphores.",
	 (const int[]){'J', 'o', OPT_NOHEADINGS, OPT_RAW, 0}, OPERANDS_NONE, cmd_view},
	{"recover", " NAME",
	 "Give back what dead processes held, and print how many permits came back.",
	 (const int[]){OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_recover},
	{"remove", " [-f] NAME",
	 "Remove a semaphore that nobody uses.",
	 (const int[]){'f', OPT_FOREIGN, 0}, OPERANDS_NAME, cmd_remove},
};
/* clang-format on */

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void
print_usage(void)
{
	printf("Usage: tsem VERB [OPTION]... [NAME] ...\n\n"
	       "Semaphores between processes: first come, first served; what the dead held comes back.\n\nVerbs:\n");
	for (size_t i = 0; i < VERBS; i++)
		printf("  %-9s %s\n", verbs[i].name, verbs[i].summary);
	printf("\n'tsem VERB --help' explains a verb, tsem(1) all of them.\n");
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return complain(NULL, "which verb? (see 'tsem --help')");
	const char *word = argv[1];
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run(&verbs[i], argc - 1, argv + 1);
	}
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
		print_usage();
	else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
		return print_version();
	else
		return complain(NULL, "unknown %s '%s' (see 'tsem --help')", word[0] == '-' ? "option" : "verb", word);
	return close_stdout(NULL, EXIT_DONE);
}
