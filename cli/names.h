/* SPDX-License-Identifier: MIT */
/* Names of semaphores, as the command is given them: what the library accepts, and several with commas between them. */
#ifndef TSEM_CLI_NAMES_H
#define TSEM_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_TEXT_MAX = 201 };

/* Whether the first `length` bytes of `text` are a name. */
bool is_name(const char *text, size_t length);

/* Copies the name at index `i` of several with commas between them. */
void name_at(const char *names, size_t i, char name[NAME_TEXT_MAX]);

#endif
