/* SPDX-License-Identifier: MIT */
#include "run_words.h"

#include <stdbool.h>
#include <string.h>

#include "options.h"
#include "verb.h"

struct words {
	const char *at; /* the present word; at the end: `end` */
	const char *end;
};

static bool
at_end(const struct words *words)
{
	return words->at >= words->end;
}

static void
next(struct words *words)
{
	const size_t left = (size_t)(words->end - words->at);
	const size_t length = strnlen(words->at, left);
	words->at += length < left ? length + 1 : left;
}

static bool
is_tsem(const char *program)
{
	const char *slash = strrchr(program, '/');
	return strcmp(slash == NULL ? program : slash + 1, "tsem") == 0;
}

static const struct option_row *
row_of_letter(char letter)
{
	for (size_t i = 0; i < option_rows_n; i++) {
		if (option_rows[i].letter == letter && (option_rows[i].verbs & VERB_RUN) != 0)
			return &option_rows[i];
	}
	return NULL;
}

/* As getopt_long(), also by the beginning of a name; an ambiguous one has been refused. */
static const struct option_row *
row_of_name(const char *name, size_t length)
{
	const struct option_row *found = NULL;
	for (size_t i = 0; i < option_rows_n; i++) {
		const struct option_row *row = &option_rows[i];
		if ((row->verbs & VERB_RUN) == 0 || strncmp(row->name, name, length) != 0)
			continue;
		if (row->name[length] == '\0')
			return row;
		found = row;
	}
	return found;
}

/* Finds the row of an option with an argument, and the argument if it is in the same word. */
static const struct option_row *
parse_option(const char *word, const char **argument)
{
	*argument = NULL;
	if (word[1] == '-') {
		const size_t length = strcspn(word + 2, "=");
		if (word[2 + length] == '=')
			*argument = word + 2 + length + 1;
		return row_of_name(word + 2, length);
	}
	const struct option_row *row = NULL;
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		row = row_of_letter(*letter);
		if (row == NULL || row->argument != NULL) {
			*argument = letter[1] != '\0' ? letter + 1 : NULL;
			break;
		}
	}
	return row;
}

/* Skips an option. True: its argument is the command, where the words then begin and end. */
static bool
skip_option(struct words *words)
{
	const char *argument;
	const struct option_row *row = parse_option(words->at, &argument);
	const bool takes_one = row != NULL && row->argument != NULL;
	if (!takes_one || argument == NULL)
		next(words);
	if (!takes_one)
		return false;
	if (argument != NULL)
		words->at = argument;
	if (!row->replaces_command) {
		next(words);
		return false;
	}
	words->end = words->at + strnlen(words->at, (size_t)(words->end - words->at));
	return true;
}

/* Whether a word of `tsem run` is in front, which this skips; words->at then is the command. */
static bool
skip_word(struct words *words, bool *named, bool *options_ended)
{
	if (!*options_ended && strcmp(words->at, "--") == 0) {
		*options_ended = true;
	} else if (!*options_ended && words->at[0] == '-' && words->at[1] != '\0') {
		return !skip_option(words);
	} else if (!*named) {
		*named = true;
	} else {
		return false;
	}
	next(words);
	return true;
}

void
skip_run_words(const char **bytes, size_t *n)
{
	struct words words = {*bytes, *bytes + *n};
	bool named = false;
	bool options_ended = false;
	if (!is_tsem(words.at))
		return;
	next(&words);
	if (at_end(&words) || strcmp(words.at, "run") != 0)
		return;
	next(&words);
	while (!at_end(&words) && skip_word(&words, &named, &options_ended))
		continue;
	if (at_end(&words))
		return;
	*bytes = words.at;
	*n = (size_t)(words.end - words.at);
}
