/* SPDX-License-Identifier: MIT */
/* Names of semaphores, as the command is given them: what the library accepts, several with commas between them, on a store. */
#ifndef TSEM_CLI_NAMES_H
#define TSEM_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_TEXT_MAX = 201 };

/* Whether the first `length` bytes of `text` are a name. */
bool is_name(const char *text, size_t length);

/* Copies the name at index `i` of several with commas between them, each with the address of their store. */
void name_at(const char *operand, size_t i, char *name, size_t size);

/* Where the names begin in what the user typed: after the address of the store, if it has one. */
const char *names_in(const char *operand);

#endif
