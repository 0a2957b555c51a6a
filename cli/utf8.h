/* SPDX-License-Identifier: MIT */
/*
 * Text from other processes, on its way to a terminal: which bytes are characters, and which would control the
 * terminal.
 */
#ifndef TSEM_CLI_UTF8_H
#define TSEM_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 sequence at `s`, or 0 if it is malformed (Unicode 15, table 3-7). */
size_t utf8_length(const unsigned char *s, size_t available);

/*
 * Whether the well-formed sequence at `s` affects the text around it: control characters (U+0000 to U+001F, U+007F to
 * U+009F), and characters that end a line or change the direction of writing.
 */
bool utf8_is_control(const unsigned char *s);

#endif
