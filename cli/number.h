/* SPDX-License-Identifier: MIT */
/* Strict parsers for numbers that users type: no trailing characters, no silent overflow. */
#ifndef TSEM_CLI_NUMBER_H
#define TSEM_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum parsed { PARSED, PARSE_NOT_A_NUMBER, PARSE_OUT_OF_RANGE };

/* Decimal digits only, from `min` to `max`. */
enum parsed parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Octal digits only, up to 0777. */
enum parsed parse_mode(const char *text, uint64_t *value);

/*
 * Numbers with units from d, h, m, s and ms, the larger unit first, as in "1m30s"; a number may have a fraction, and a
 * single one without a unit counts seconds. At most 100 years.
 */
enum parsed parse_duration(const char *text, uint64_t *ns);

/* The name of a signal, with or without "SIG", or its number. */
bool parse_signal(const char *text, int *number);

#endif
