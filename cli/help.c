/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "columns.h"
#include "commit.h"
#include "config.h"
#include "options.h"

enum { WIDTH = 79, USAGE_TEXT_MAX = 64 };

/* The line that is being printed. A word that does not fit begins the next line. */
struct text_line {
	size_t used;
	size_t indent;
};

static void
print_word(struct text_line *line, const char *word)
{
	const size_t length = strlen(word);
	if (line->used + 1 + length > WIDTH) {
		printf("\n%*s", (int)line->indent, "");
		line->used = line->indent;
	}
	printf(" %s", word);
	line->used += 1 + length;
}

/* "-j N", or "--max M" if it has no letter. */
static void
option_and_argument_to_text(const struct option_row *row, char text[USAGE_TEXT_MAX])
{
	char option[OPTION_TEXT_MAX];
	option_to_text(row, option);
	snprintf(text, USAGE_TEXT_MAX, "%s%s%s", option, row->argument == NULL ? "" : " ",
	         row->argument == NULL ? "" : row->argument);
}

static void
print_usage_of_option(struct text_line *line, const struct verb *verb, const struct option_row *row)
{
	char text[USAGE_TEXT_MAX];
	char next[USAGE_TEXT_MAX];
	char word[2 * USAGE_TEXT_MAX + 8];
	option_and_argument_to_text(row, text);
	if (row->excludes_next) {
		option_and_argument_to_text(row + 1, next);
		snprintf(word, sizeof(word), "[%s | %s]", text, next);
	} else {
		const bool required = (row->required & verb->id) != 0;
		snprintf(word, sizeof(word), "%s%s%s", required ? "" : "[", text, required ? "" : "]");
	}
	print_word(line, word);
}

static void
print_usage(const struct verb *verb)
{
	const struct option_row *instead = NULL;
	struct text_line line = {.used = strlen("Usage: tsem ") + strlen(verb->name)};
	line.indent = line.used;
	printf("Usage: tsem %s", verb->name);
	for (size_t i = 0; i < option_rows_n; i++) {
		const struct option_row *row = &option_rows[i];
		if (!verb_accepts(verb, row) || row->verbs == VERB_ALL)
			continue;
		if (row->replaces_command) {
			instead = row;
			continue;
		}
		print_usage_of_option(&line, verb, row);
		if (row->excludes_next)
			i++;
	}
	if (verb->words != NULL)
		print_word(&line, verb->words);
	if (instead != NULL) {
		char text[USAGE_TEXT_MAX];
		option_and_argument_to_text(instead, text);
		printf("\n       tsem %s [OPTION]... NAME %s", verb->name, text);
	}
	printf("\n");
}

static void
print_option(const struct option_row *row)
{
	char letter[] = "-j,";
	char left[USAGE_TEXT_MAX];
	letter[1] = row->letter;
	snprintf(left, sizeof(left), "%-3s --%s %s", row->letter != '\0' ? letter : "", row->name,
	         row->argument == NULL ? "" : row->argument);
	printf("  %-29s %s\n", left, row->help);
}

/* The verbs without a program for etcd need no list of options. */
static void
print_on_etcd(const struct verb *verb)
{
	enum { NOT_THERE = VERB_TOP | VERB_WATCH };
	struct text_line line = {.used = 0, .indent = strlen("  Not there:")};
	char option[OPTION_TEXT_MAX];
	printf("\nOn etcd, by names such as 'etcd:NAME' (see tsem-etcd(7)):\n");
	if (verb->on_etcd != NULL)
		printf("  %s\n", verb->on_etcd);
	for (size_t i = 0; i < option_rows_n && (verb->id & NOT_THERE) == 0; i++) {
		if (!verb_accepts(verb, &option_rows[i]) || !option_rows[i].local)
			continue;
		if (line.used == 0)
			line.used = (size_t)printf("  Not there:");
		option_to_text(&option_rows[i], option);
		print_word(&line, option);
	}
	if (line.used > 0)
		printf("\n");
}

void
print_help(const struct verb *verb)
{
	print_usage(verb);
	printf("\n%s\n\nOptions:\n", verb->summary);
	for (size_t i = 0; i < option_rows_n; i++) {
		if (verb_accepts(verb, &option_rows[i]))
			print_option(&option_rows[i]);
	}
	if (verb->columns != NULL)
		columns_print_help(verb->columns);
	if (verb->id != VERB_HELP)
		print_on_etcd(verb);
	if (verb->id == VERB_HELP)
		printf("\nSee tsem(1).\n");
	else
		printf("\nSee tsem-%s(1).\n", verb->name);
	printf("\nExamples:\n  %s\n  %s\n", verb->examples[0], verb->examples[1]);
}

void
print_version(void)
{
	printf("tsem %s", TSEM_VERSION);
	if (sizeof(TSEM_COMMIT) > 1)
		printf(" (%s)", TSEM_COMMIT);
	putchar('\n');
}
