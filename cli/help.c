/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "columns.h"
#include "config.h"
#include "message.h"

enum { WIDTH = 79 };

/* What is printed of a line already; words that do not fit go to the next one. */
struct line {
	size_t used;
	size_t indent;
};

static void
print_word(struct line *line, const char *word)
{
	const size_t length = strlen(word);
	if (line->used + 1 + length > WIDTH) {
		printf("\n%*s", (int)line->indent, "");
		line->used = line->indent;
	}
	printf(" %s", word);
	line->used += 1 + length;
}

/* As a usage line has it: -j N, or --max M where there is no letter. */
static void
option_to_text(const struct description *d, char text[64])
{
	const char *argument = d->argument == NULL ? "" : d->argument;
	const char *space = d->argument == NULL ? "" : " ";
	if (d->code < OPT_MAX)
		snprintf(text, 64, "-%c%s%s", d->code, space, argument);
	else
		snprintf(text, 64, "--%s%s%s", d->name, space, argument);
}

static void
print_option_word(struct line *line, const struct verb *verb, const int *code)
{
	char text[64];
	char word[160];
	option_to_text(describe_option(*code), text);
	if (code[0] == 'n' && code[1] == 'w') { /* they exclude each other */
		char other[64];
		option_to_text(describe_option('w'), other);
		snprintf(word, sizeof(word), "[%s | %s]", text, other);
	} else {
		const bool required = *code == verb->required;
		snprintf(word, sizeof(word), "%s%s%s", required ? "" : "[", text, required ? "" : "]");
	}
	print_word(line, word);
}

static void
print_usage(const struct verb *verb)
{
	struct line line = {.used = strlen("Usage: tsem ") + strlen(verb->name)};
	line.indent = line.used;
	printf("Usage: tsem %s", verb->name);
	for (const int *code = verb->accepts; *code != 0; code++) {
		if (*code != verb->instead)
			print_option_word(&line, verb, code);
		if (code[0] == 'n' && code[1] == 'w')
			code++;
	}
	if (verb->words != NULL)
		print_word(&line, verb->words);
	if (verb->instead != 0) {
		char text[64];
		option_to_text(describe_option(verb->instead), text);
		printf("\n       tsem %s [OPTION]... NAME %s", verb->name, text);
	}
	printf("\n");
}

static void
print_option(const struct description *d)
{
	char left[64];
	const bool has_short = d->code < OPT_MAX;
	snprintf(left, sizeof(left), "%c%c%s --%s %s", has_short ? '-' : ' ', has_short ? d->code : ' ',
	         has_short ? "," : " ", d->name, d->argument == NULL ? "" : d->argument);
	printf("  %-30s %s\n", left, d->help);
}

void
print_help(const struct verb *verb)
{
	print_usage(verb);
	printf("\n%s\n\nOptions:\n", verb->summary);
	for (const struct description *d = descriptions; d->code != 0; d++) {
		if (accepts_option(verb, d->code))
			print_option(d);
	}
	if (verb->columns != NULL)
		columns_print_help(verb->columns);
	printf("\nSee tsem(1).\n");
}

void
print_version(void)
{
	printf("tsem %s\n", TSEM_VERSION);
}
