/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <signal.h>
#include <string.h>

#include "monotonic.h"

#define DURATION_MAX (UINT64_C(100) * 366 * 24 * 3600 * NS_PER_SECOND)

/* Moves *text past the digits. A value above `max` becomes max + 1. */
static bool
read_digits(const char **text, unsigned base, uint64_t max, uint64_t *value)
{
	const char *start = *text;
	*value = 0;
	for (; **text >= '0' && **text < (char)('0' + base); (*text)++) {
		const unsigned digit = (unsigned)(**text - '0');
		*value = *value > (max - digit) / base ? max + 1 : *value * base + digit;
		if (*value > max)
			*value = max + 1;
	}
	return *text != start;
}

enum parsed
parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t number;
	if (!read_digits(&text, 10, max, &number) || *text != '\0')
		return PARSE_NOT_A_NUMBER;
	if (number < min || number > max)
		return PARSE_OUT_OF_RANGE;
	*value = number;
	return PARSED;
}

enum parsed
parse_mode(const char *text, uint64_t *value)
{
	uint64_t number;
	if (!read_digits(&text, 8, 0777, &number) || *text != '\0')
		return PARSE_NOT_A_NUMBER;
	if (number > 0777)
		return PARSE_OUT_OF_RANGE;
	*value = number;
	return PARSED;
}

/* Moves *text past the unit. 0 for an unknown one. */
static uint64_t
read_unit(const char **text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ms", NS_PER_MS},
		{"s", NS_PER_SECOND},
		{"m", 60 * NS_PER_SECOND},
		{"h", 3600 * NS_PER_SECOND},
		{"d", 24 * 3600 * NS_PER_SECOND},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t length = strlen(units[i].name);
		if (strncmp(*text, units[i].name, length) == 0) {
			*text += length;
			return units[i].ns;
		}
	}
	return 0;
}

/* Moves *text past a number and its unit, such as "1.5h". Without any unit, a number counts seconds. */
static enum parsed
read_part(const char **text, bool is_first, uint64_t *ns, uint64_t *unit)
{
	uint64_t whole;
	const bool digits = read_digits(text, 10, DURATION_MAX, &whole);
	const char *fraction = *text + 1;
	const size_t fraction_n = **text == '.' ? strspn(fraction, "0123456789") : 0;
	if (**text == '.' ? fraction_n == 0 : !digits)
		return PARSE_NOT_A_NUMBER;
	if (fraction_n > 0)
		*text = fraction + fraction_n;
	*unit = is_first && **text == '\0' ? NS_PER_SECOND : read_unit(text);
	if (*unit == 0)
		return PARSE_NOT_A_NUMBER;
	if (whole > DURATION_MAX / *unit)
		return PARSE_OUT_OF_RANGE;
	*ns = whole * *unit;
	uint64_t weight = *unit;
	for (size_t i = 0; i < fraction_n && weight >= 10; i++, weight /= 10)
		*ns += weight * (uint64_t)(fraction[i] - '0') / 10;
	return PARSED;
}

enum parsed
parse_duration(const char *text, uint64_t *ns)
{
	uint64_t total = 0;
	uint64_t unit_before = UINT64_MAX;
	do {
		uint64_t part, unit;
		const enum parsed how = read_part(&text, unit_before == UINT64_MAX, &part, &unit);
		if (how != PARSED)
			return how;
		if (unit >= unit_before)
			return PARSE_NOT_A_NUMBER;
		unit_before = unit;
		total += part;
		if (total > DURATION_MAX)
			return PARSE_OUT_OF_RANGE;
	} while (*text != '\0');
	*ns = total;
	return PARSED;
}

bool
parse_signal(const char *text, int *number)
{
	enum { SIGNAL_MAX = 64 };
	static const struct {
		const char *name;
		int number;
	} signals[] = {
		{"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"CONT", SIGCONT},   {"HUP", SIGHUP},   {"INT", SIGINT},
		{"KILL", SIGKILL}, {"QUIT", SIGQUIT}, {"STOP", SIGSTOP},   {"TERM", SIGTERM}, {"TSTP", SIGTSTP},
		{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH},
	};
	uint64_t value;
	if (parse_number(text, 1, SIGNAL_MAX, &value) == PARSED) {
		*number = (int)value;
		return true;
	}
	const char *name = strncmp(text, "SIG", strlen("SIG")) == 0 ? text + strlen("SIG") : text;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(signals[i].name, name) == 0) {
			*number = signals[i].number;
			return true;
		}
	}
	return false;
}
