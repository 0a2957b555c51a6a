/* SPDX-License-Identifier: MIT */
/* The parsers of the command: what they accept, with the exact value, and what they refuse. */
#include "support.h"

#include <inttypes.h>

#include "number.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND UINT64_C(1000000000)
#define YEARS_100 (UINT64_C(100) * 366 * 24 * 3600 * SECOND)

enum { UNTOUCHED = 12345 };

static void
expect(const char *text, enum parsed result, uint64_t value, enum parsed got, uint64_t got_value)
{
	if (result != PARSED)
		value = UNTOUCHED;
	if (got != result || got_value != value)
		fail_msg("\"%s\": %d with %" PRIu64 ", not %d with %" PRIu64, text, got, got_value, result, value);
}

TEST(numbers_in_decimal)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		enum parsed result;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0, PARSED, 0},
		{"1", 1, 1, PARSED, 1},
		{"007", 0, 9, PARSED, 7},
		{"4294967295", 1, UINT32_MAX, PARSED, UINT32_MAX},
		{"4294967296", 1, UINT32_MAX, PARSE_OUT_OF_RANGE, 0},
		{"00000000000000000000000000000012", 1, 100, PARSED, 12},
		{"0", 1, 5, PARSE_OUT_OF_RANGE, 0},
		{"6", 1, 5, PARSE_OUT_OF_RANGE, 0},
		{"9", 1, 5, PARSE_OUT_OF_RANGE, 0},
		{"99", 1, 5, PARSE_OUT_OF_RANGE, 0},
		{"18446744073709551615", 0, UINT64_MAX - 1, PARSE_OUT_OF_RANGE, 0},
		{"18446744073709551616", 0, UINT32_MAX, PARSE_OUT_OF_RANGE, 0},
		{"18446744073709551617", 0, UINT32_MAX, PARSE_OUT_OF_RANGE, 0},
		{"4294967297", 1, UINT32_MAX, PARSE_OUT_OF_RANGE, 0},
		{"99999999999999999999999999999999999", 0, UINT32_MAX, PARSE_OUT_OF_RANGE, 0},
		{"", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"-1", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"+1", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{" 1", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"1 ", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"1\n", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"1x", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"x", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"0x1", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"1e1", 0, 99, PARSE_NOT_A_NUMBER, 0},
		{"1.0", 0, 9, PARSE_NOT_A_NUMBER, 0},
		{"1,000", 0, 9999, PARSE_NOT_A_NUMBER, 0},
		{"\xd9\xa1", 0, 9, PARSE_NOT_A_NUMBER, 0}, /* an Arabic digit */
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint64_t value = UNTOUCHED;
		const enum parsed result = parse_number(cases[i].text, cases[i].min, cases[i].max, &value);
		expect(cases[i].text, cases[i].result, cases[i].value, result, value);
	}
}

TEST(modes_in_octal)
{
	static const struct {
		const char *text;
		enum parsed result;
		uint64_t value;
	} cases[] = {
		{"0", PARSED, 0},
		{"600", PARSED, 0600},
		{"0600", PARSED, 0600},
		{"777", PARSED, 0777},
		{"00000000644", PARSED, 0644},
		{"1000", PARSE_OUT_OF_RANGE, 0},
		{"4755", PARSE_OUT_OF_RANGE, 0},
		{"7777777777777777777777777777777", PARSE_OUT_OF_RANGE, 0},
		{"", PARSE_NOT_A_NUMBER, 0},
		{"8", PARSE_NOT_A_NUMBER, 0},
		{"608", PARSE_NOT_A_NUMBER, 0},
		{"-600", PARSE_NOT_A_NUMBER, 0},
		{"0o600", PARSE_NOT_A_NUMBER, 0},
		{"0x180", PARSE_NOT_A_NUMBER, 0},
		{"u=rw", PARSE_NOT_A_NUMBER, 0},
		{"600 ", PARSE_NOT_A_NUMBER, 0},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint64_t value = UNTOUCHED;
		const enum parsed result = parse_mode(cases[i].text, &value);
		expect(cases[i].text, cases[i].result, cases[i].value, result, value);
	}
}

TEST(durations_with_units)
{
	static const struct {
		const char *text;
		enum parsed result;
		uint64_t ns;
	} cases[] = {
		{"0", PARSED, 0},
		{"0s", PARSED, 0},
		{".0", PARSED, 0},
		{"1", PARSED, SECOND},
		{"1s", PARSED, SECOND},
		{"1.", PARSE_NOT_A_NUMBER, 0},
		{"1.5", PARSED, 1500000000},
		{".5", PARSED, 500000000},
		{"0.5s", PARSED, 500000000},
		{"007", PARSED, 7 * SECOND},
		{"1.50", PARSED, 1500000000},
		{"0.1", PARSED, 100000000},
		{"0.3", PARSED, 300000000},
		{"0.000000001", PARSED, 1},
		{"0.123456789", PARSED, 123456789},
		{"0.999999999", PARSED, 999999999},
		{"0.9999999999", PARSED, 999999999},
		{"0.0000000009", PARSED, 0},
		{"1.000000000000000000000000000000000", PARSED, SECOND},
		{"5ms", PARSED, 5000000},
		{"0.5ms", PARSED, 500000},
		{"0.000001ms", PARSED, 1},
		{"1500ms", PARSED, 1500000000},
		{"1m", PARSED, 60 * SECOND},
		{"1.5m", PARSED, 90 * SECOND},
		{"0.1m", PARSED, 6 * SECOND},
		{"2h", PARSED, 7200 * SECOND},
		{"0.25h", PARSED, 900 * SECOND},
		{".5d", PARSED, 43200 * SECOND},
		{"1d", PARSED, 86400 * SECOND},
		{"0.000000001h", PARSED, 3600},
		{"36600d", PARSED, YEARS_100},
		{"3162240000", PARSED, YEARS_100},
		{"3162240000000ms", PARSED, YEARS_100},
		{"878400h", PARSED, YEARS_100},
		{"52704000m", PARSED, YEARS_100},
		{"3162240000.000000001", PARSE_OUT_OF_RANGE, 0},
		{"3162240001", PARSE_OUT_OF_RANGE, 0},
		{"36600.5d", PARSE_OUT_OF_RANGE, 0},
		{"36601d", PARSE_OUT_OF_RANGE, 0},
		{"9999999999999999999d", PARSE_OUT_OF_RANGE, 0},
		{"99999999999999999999999999999999999999", PARSE_OUT_OF_RANGE, 0},
		{"213504d", PARSE_OUT_OF_RANGE, 0}, /* a little over 2^64 ns */
		{"18446744074", PARSE_OUT_OF_RANGE, 0},
		{"", PARSE_NOT_A_NUMBER, 0},
		{".", PARSE_NOT_A_NUMBER, 0},
		{"s", PARSE_NOT_A_NUMBER, 0},
		{".s", PARSE_NOT_A_NUMBER, 0},
		{"1.s", PARSE_NOT_A_NUMBER, 0},
		{"-1", PARSE_NOT_A_NUMBER, 0},
		{"+1", PARSE_NOT_A_NUMBER, 0},
		{"-0", PARSE_NOT_A_NUMBER, 0},
		{" 1", PARSE_NOT_A_NUMBER, 0},
		{"1 ", PARSE_NOT_A_NUMBER, 0},
		{"1 s", PARSE_NOT_A_NUMBER, 0},
		{"1s ", PARSE_NOT_A_NUMBER, 0},
		{"1S", PARSE_NOT_A_NUMBER, 0},
		{"1M", PARSE_NOT_A_NUMBER, 0},
		{"1MS", PARSE_NOT_A_NUMBER, 0},
		{"1min", PARSE_NOT_A_NUMBER, 0},
		{"1us", PARSE_NOT_A_NUMBER, 0},
		{"1ns", PARSE_NOT_A_NUMBER, 0},
		{"1y", PARSE_NOT_A_NUMBER, 0},
		{"1h30m", PARSED, 5400 * SECOND},
		{"1m30s", PARSED, 90 * SECOND},
		{"1d1h1m1s1ms", PARSED, 90061 * SECOND + 1000000},
		{"1m0.5s", PARSED, 60500000000},
		{"1.5h30m", PARSED, 7200 * SECOND},
		{"36599d24h", PARSED, YEARS_100},
		{"36600d1ms", PARSE_OUT_OF_RANGE, 0},
		{"36600d99999999999999999999ms", PARSE_OUT_OF_RANGE, 0},
		{"1m30", PARSE_NOT_A_NUMBER, 0},
		{"30s1m", PARSE_NOT_A_NUMBER, 0},
		{"1s1s", PARSE_NOT_A_NUMBER, 0},
		{"1m.s", PARSE_NOT_A_NUMBER, 0},
		{"1m ", PARSE_NOT_A_NUMBER, 0},
		{"1m 30s", PARSE_NOT_A_NUMBER, 0},
		{"1mm", PARSE_NOT_A_NUMBER, 0},
		{"1mss", PARSE_NOT_A_NUMBER, 0},
		{"1:30", PARSE_NOT_A_NUMBER, 0},
		{"1,5", PARSE_NOT_A_NUMBER, 0},
		{"1.5.5", PARSE_NOT_A_NUMBER, 0},
		{"1e3", PARSE_NOT_A_NUMBER, 0},
		{"0x10", PARSE_NOT_A_NUMBER, 0},
		{"inf", PARSE_NOT_A_NUMBER, 0},
		{"nan", PARSE_NOT_A_NUMBER, 0},
		{"infinity", PARSE_NOT_A_NUMBER, 0},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint64_t ns = UNTOUCHED;
		const enum parsed result = parse_duration(cases[i].text, &ns);
		expect(cases[i].text, cases[i].result, cases[i].ns, result, ns);
	}
}
