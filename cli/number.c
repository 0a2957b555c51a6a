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

/* 0 for an unknown unit. */
static uint64_t
unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", NS_PER_SECOND},       {"ms", NS_PER_SECOND / 1000}, {"s", NS_PER_SECOND},
		{"m", 60 * NS_PER_SECOND}, {"h", 3600 * NS_PER_SECOND},  {"d", 24 * 3600 * NS_PER_SECOND},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	}
	return 0;
}

enum parsed
parse_duration(const char *text, uint64_t *ns)
{
	uint64_t whole;
	const bool digits = read_digits(&text, 10, DURATION_MAX, &whole);
	const char *fraction = NULL;
	if (*text == '.') {
		fraction = ++text;
		text += strspn(text, "0123456789");
	}
	const bool fraction_digits = fraction != NULL && text != fraction;
	const uint64_t unit = unit_ns(text);
	if (unit == 0 || (!digits && !fraction_digits) || (fraction != NULL && !fraction_digits))
		return PARSE_NOT_A_NUMBER;
	if (whole > DURATION_MAX / unit)
		return PARSE_OUT_OF_RANGE;

	uint64_t total = whole * unit;
	uint64_t weight = unit;
	for (; fraction_digits && fraction < text && weight >= 10; fraction++) {
		total += weight * (uint64_t)(*fraction - '0') / 10;
		weight /= 10;
	}
	if (total > DURATION_MAX)
		return PARSE_OUT_OF_RANGE;
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
