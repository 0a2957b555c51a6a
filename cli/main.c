/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "dispatch.h"
#include "help.h"
#include "suggest.h"

static int cmd_help(const struct options *o);

const struct program this_program = {
	.name = "tsem",
	.actions =
		(const struct verb_runner[]){
			{VERB_RUN, cmd_run},
			{VERB_CREATE, cmd_create},
			{VERB_TAKE, cmd_take},
			{VERB_POST, cmd_post},
			{VERB_ACQUIRE, cmd_acquire},
			{VERB_RELEASE, cmd_release},
			{VERB_SET, cmd_set},
			{VERB_WAIT, cmd_wait},
			{VERB_CANCEL, cmd_cancel},
			{VERB_RECOVER, cmd_recover},
			{VERB_REMOVE, cmd_remove},
			{VERB_HELP, cmd_help},
			{0, NULL},
		},
};

static void
print_usage(void)
{
	printf("Usage: tsem VERB [OPTION]... [NAME] ...\n\n"
	       "Semaphores for processes: strictly first come, first served, without a daemon.\n"
	       "Run at most three commands at a time: tsem run -j 3 NAME -- COMMAND\n\nVerbs:\n");
	for (size_t i = 0; i < verbs_n; i++)
		printf("  %-9s %s\n", verbs[i].name, verbs[i].summary);
	printf("\n'tsem VERB --help' and tsem-VERB(1) explain one verb; tsem(1) is an overview.\n");
}

/* Of words with spaces between them. */
static bool
contains_word(const char *words, const char *word)
{
	const size_t length = strlen(word);
	for (; length > 0 && words[0] != '\0'; words += strspn(words, " ")) {
		const size_t n = strcspn(words, " ");
		if (n == length && strncmp(words, word, n) == 0)
			return true;
		words += n;
	}
	return false;
}

static _Noreturn void
die_of_verb(const char *word)
{
	char text[SUGGESTION_TEXT_MAX];
	struct suggestion suggestion;
	suggestion_begin(&suggestion, word);
	for (size_t i = 0; i < verbs_n; i++) {
		suggestion_try(&suggestion, verbs[i].name);
		if (verbs[i].elsewhere != NULL && contains_word(verbs[i].elsewhere, word))
			suggestion_take(&suggestion, verbs[i].name);
	}
	suggestion_to_text(&suggestion, text);
	die(NULL, "unknown verb '%s' (%ssee 'tsem --help')", word, text);
}

/* `word`: a verb, or NULL for the list of all. */
static void
explain(const char *word)
{
	const struct verb *verb = word == NULL ? NULL : verb_find(word);
	if (word != NULL && verb == NULL)
		die_of_verb(word);
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
	const struct verb *verb = verb_find(word);
	if (verb != NULL)
		return dispatch(verb, argc, argv);
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
		explain(argc > 2 && argv[2][0] != '-' ? argv[2] : NULL);
	else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
		print_version();
	else if (word[0] == '-')
		die(NULL, "unknown option '%s' (see 'tsem --help')", word);
	else
		die_of_verb(word);
	flush_stdout(NULL);
	return EXIT_DONE;
}
