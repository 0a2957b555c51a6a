/* SPDX-License-Identifier: MIT */
#include "suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tsem.h"

static bool
same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned
min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * The number of typing errors between two words: a letter that is missing, superfluous or wrong, or two neighbours in
 * the wrong order (optimal string alignment, after Damerau 1964). One row of the table for each letter of `a`.
 */
static unsigned
typing_errors(const char *a, const char *b)
{
	unsigned rows[3][NAME_TEXT_MAX];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	const size_t n = strlen(b);
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		unsigned *const oldest = before;
		before = last;
		last = row;
		row = oldest;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = min(min(last[j], row[j - 1]) + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = min(row[j], before[j - 2] + 1);
		}
	}
	return row[n];
}

void
suggestion_begin(struct suggestion *suggestion, const char *typed)
{
	enum { ERRORS_MAX = 3 };
	const size_t length = strlen(typed);
	suggestion->typed = length < NAME_TEXT_MAX ? typed : "";
	suggestion->word[0] = '\0';
	/* One error in three letters, and at least two letters that are right. */
	suggestion->distance = 1 + (length < 3 ? 0 : length < 6 ? 1 : min((unsigned)(length / 3), ERRORS_MAX));
}

void
suggestion_take(struct suggestion *suggestion, const char *word)
{
	suggestion->distance = 0;
	strcpy(suggestion->word, word);
}

void
suggestion_try(struct suggestion *suggestion, const char *word)
{
	if (suggestion->typed[0] == '\0' || strlen(word) >= NAME_TEXT_MAX || strcmp(suggestion->typed, word) == 0)
		return;
	const unsigned errors = typing_errors(suggestion->typed, word);
	if (errors >= suggestion->distance)
		return;
	suggestion_take(suggestion, word);
	suggestion->distance = errors;
}

void
suggestion_to_text(const struct suggestion *suggestion, char text[SUGGESTION_TEXT_MAX])
{
	text[0] = '\0';
	if (suggestion->word[0] != '\0')
		snprintf(text, SUGGESTION_TEXT_MAX, "did you mean '%s'? ", suggestion->word);
}

static int
try_name(const char *name, void *arg)
{
	suggestion_try(arg, name);
	return 0;
}

void
suggest_name(const char *typed, char text[SUGGESTION_TEXT_MAX])
{
	struct suggestion suggestion;
	suggestion_begin(&suggestion, typed);
	tsem_list(try_name, &suggestion);
	suggestion_to_text(&suggestion, text);
}
