/* SPDX-License-Identifier: MIT */
/* Text of whatever origin, on its way to a terminal: what is a character, and what would control the terminal. */
#ifndef TSEM_CLI_UTF8_H
#define TSEM_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the well-formed UTF-8 sequence at `s`, 0 if there is none (Unicode 15, table 3-7). */
size_t utf8_length(const unsigned char *s, size_t available);

/*
 * Whether the well-formed sequence at `s` does something to what is around it: control characters, U+0000 to U+001F and U+007F
 * to U+009F, and those that end a line or change the direction of writing.
 */
bool utf8_is_control(const unsigned char *s);

#endif
