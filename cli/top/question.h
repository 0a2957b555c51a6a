/* SPDX-License-Identifier: MIT */
/* What `tsem top` asks before an action: perhaps an argument, and then whether the user means it. */
#ifndef TSEM_CLI_TOP_QUESTION_H
#define TSEM_CLI_TOP_QUESTION_H

#include "top/top.h"

/* Begins the action of this key on what is selected. False if there is none. */
bool question_begin(struct top *top, int key);

/* Handles a key of the argument, or of the answer. */
void question_key(struct top *top, int key);

void question_to_text(const struct top *top, char *text, size_t size);

#endif
