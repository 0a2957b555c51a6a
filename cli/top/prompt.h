/* SPDX-License-Identifier: MIT */
/* A text that the user types on the last line. */
#ifndef TSEM_CLI_TOP_PROMPT_H
#define TSEM_CLI_TOP_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

/* Appends the byte `key` if it fits, or removes the last character. Ignores other keys and control characters. */
void prompt_edit(char *text, size_t size, int key);

bool prompt_is_enter(int key);
bool prompt_is_escape(int key);
bool prompt_is_backspace(int key);

#endif
