/* SPDX-License-Identifier: MIT */
#include "jobserver/flags.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Whether the first `n` bytes are digits only, at least one. */
static bool
is_number(const char *text, size_t n)
{
	return n > 0 && strspn(text, "0123456789") >= n;
}

/* ---- MAKEFLAGS ---- */

/* A space ends a word unless a backslash precedes it. */
static size_t
word_length(const char *text)
{
	size_t n = 0;
	while (text[n] != '\0' && text[n] != ' ')
		n += text[n] == '\\' && text[n + 1] != '\0' ? 2 : 1;
	return n;
}

static const char *
next_word(const char *word)
{
	word += word_length(word);
	return word + strspn(word, " ");
}

/* After -j and --jobs, the next word may be the number. */
static bool
is_jobs_alone(const char *word, size_t n)
{
	return (n == 2 && starts_with(word, "-j")) || (n == 6 && starts_with(word, "--jobs"));
}

static bool
is_about_jobs(const char *word, size_t n)
{
	return is_jobs_alone(word, n) || (n > 2 && starts_with(word, "-j") && is_number(word + 2, n - 2))
	       || starts_with(word, "--jobs=") || starts_with(word, "--jobserver-");
}

/* make puts the letters of options first, without a dash, and always reads the first word as such letters. */
static bool
is_letters(const char *word, size_t n)
{
	return n > 0 && word[0] != '-' && memchr(word, '=', n) == NULL;
}

char *
jobserver_makeflags(const char *old, const char *auth)
{
	char *flags = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&flags, &size);
	if (out == NULL)
		return NULL;

	const char *word = old == NULL ? "" : old;
	if (is_letters(word, word_length(word))) {
		fprintf(out, "%.*s", (int)word_length(word), word);
		word = next_word(word);
	} else {
		word += strspn(word, " ");
	}
	/* Variables follow "--" and may contain anything. */
	while (*word != '\0' && !(word_length(word) == 2 && starts_with(word, "--"))) {
		const size_t n = word_length(word);
		const char *next = next_word(word);
		if (!is_about_jobs(word, n))
			fprintf(out, " %.*s", (int)n, word);
		else if (is_jobs_alone(word, n) && is_number(next, word_length(next)))
			next = next_word(next);
		word = next;
	}
	fprintf(out, " -j --jobserver-auth=%s%s%s", auth, *word != '\0' ? " " : "", word);
	if (fclose(out) == 0)
		return flags;
	free(flags);
	return NULL;
}

/* ---- the arguments of make ---- */

static bool
is_make(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *base = slash == NULL ? command : slash + 1;
	return strcmp(base, "make") == 0 || strcmp(base, "gmake") == 0;
}

struct argument {
	bool takes_next; /* the next word is its value */
	char *jobs;      /* its letter j, or --jobs; NULL for other options */
	char *number;    /* the rest of the word after `jobs` */
};

/* The first letter that takes a value takes the rest of the word. */
static struct argument
read_letters(char *word)
{
	for (char *letter = word + 1; *letter != '\0'; letter++) {
		if (*letter == 'j')
			return (struct argument){.jobs = letter, .number = letter + 1};
		if (strchr("CfIoWE", *letter) != NULL)
			return (struct argument){.takes_next = letter[1] == '\0'};
		if (strchr("lO", *letter) != NULL)
			break;
	}
	return (struct argument){0};
}

static struct argument
read_argument(char *word)
{
	static const char *const with_value[] = {"--directory", "--file", "--makefile", "--include-dir", "--old-file",
	                                         "--what-if",   "--eval", "--new-file", "--assume-new",  "--assume-old"};
	if (word[0] != '-' || word[1] == '\0')
		return (struct argument){0};
	if (word[1] != '-')
		return read_letters(word);
	if (strcmp(word, "--jobs") == 0 || starts_with(word, "--jobs="))
		return (struct argument){.jobs = word, .number = word + strlen("--jobs")};
	for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++) {
		if (strcmp(word, with_value[i]) == 0)
			return (struct argument){.takes_next = true};
	}
	return (struct argument){0};
}

static void
remove_word(char **words)
{
	do {
		words[0] = words[1];
	} while (*words++ != NULL);
}

void
jobserver_adapt_make(const char *name, char **command)
{
	if (!is_make(command[0]))
		return;
	for (char **word = command + 1; *word != NULL && strcmp(*word, "--") != 0;) {
		const struct argument argument = read_argument(*word);
		const char *next = word[1];
		if (argument.jobs == NULL) {
			word += argument.takes_next && next != NULL ? 2 : 1;
			continue;
		}
		const bool in_next = *argument.number == '\0' && next != NULL && is_number(next, strlen(next));
		if (*argument.number != '\0' || in_next)
			die(name, "%s %s%s%s sets a limit of its own (leave it out: the semaphore is the limit)", command[0], *word,
			    in_next ? " " : "", in_next ? next : "");
		if (argument.jobs == *word + 1 || argument.jobs == *word)
			remove_word(word);
		else
			*argument.jobs = '\0';
	}
}
