/* SPDX-License-Identifier: MIT */
/* The word that a user probably meant. */
#ifndef TSEM_CLI_SUGGEST_H
#define TSEM_CLI_SUGGEST_H

#include "names.h"

struct suggestion {
	const char *typed;
	unsigned distance;        /* of the nearest word */
	char word[NAME_TEXT_MAX]; /* empty: none is near */
};

/* `typed`: what the user has typed, valid until the last suggestion_try(). */
void suggestion_begin(struct suggestion *suggestion, const char *typed);
void suggestion_try(struct suggestion *suggestion, const char *word);

/* Chooses the word, however it is written. */
void suggestion_take(struct suggestion *suggestion, const char *word);

/* "did you mean 'WORD'? " after '(', or an empty text. */
enum { SUGGESTION_TEXT_MAX = NAME_TEXT_MAX + 24 };
void suggestion_to_text(const struct suggestion *suggestion, char text[SUGGESTION_TEXT_MAX]);

/* Of the semaphores of this machine. */
void suggest_name(const char *typed, char text[SUGGESTION_TEXT_MAX]);

#endif
