/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "message.h"
#include "number.h"

const struct description descriptions[] = {
	{'j', "permits", "N", "permits of the semaphore, or N% of the processors"},
	{OPT_MAX, "max", "M", "what posting may raise the available permits to"},
	{'m', "mode", "MODE", "permissions in octal, default 0600"},
	{OPT_EXIST_OK, "exist-ok", NULL, "fine if it exists with the same number of permits"},
	{'k', "count", "K", "number of permits, default 1"},
	{OPT_OWNER, "owner", "PID", "process to hold for, $$ in a script"},
	{'n', "nonblock", NULL, "do not wait: exit with status 75"},
	{'w', "timeout", "DUR", "wait so long at most: seconds, or with ms, s, m, h, d"},
	{'E', "conflict-exit-code", "N", "exit status instead of 75"},
	{'c', "command", "COMMAND", "run COMMAND with the shell"},
	{'p', "previous", NULL, "print how many permits were available before"},
	{'f', "force", NULL, "also while it is in use, or damaged"},
	{OPT_FOREIGN, "foreign", NULL, "use it although it belongs to another user"},
	{'J', "json", NULL, "print JSON"},
	{OPT_STATS, "stats", NULL, "print statistics, too"},
	{'o', "output", "COLS", "columns to print, separated by commas"},
	{OPT_NOHEADINGS, "noheadings", NULL, "print no column headings"},
	{OPT_RAW, "raw", NULL, "print columns without padding"},
	{'b', "batch", NULL, "print tables one after the other, also on a terminal"},
	{'d', "delay", "DUR", "time between two looks, default 2s"},
	{'i', "iterations", "N", "end after so many looks"},
	{'s', "sort", "COL", "column to sort by, default WAITING"},
	{OPT_HOLDERS, "holders", NULL, "until nobody holds, even if some wait"},
	{OPT_ANY, "any", NULL, "of several names, one permit of whichever has one first"},
	{OPT_ON_RECOVERED, "on-recovered", "COMMAND", "run COMMAND first if a holder died with a permit"},
	{OPT_JOBSERVER, "jobserver", NULL, "each job of make is a permit: the command's own is the first"},
	{OPT_JOBSERVER_STYLE, "jobserver-style", "STYLE", "the same, by 'pipe', the default, or 'fifo', which ninja reads"},
	{'v', "verbose", NULL, "say what happens while waiting"},
	{'h', "help", NULL, "print this help"},
	{'V', "version", NULL, "print the version"},
	{0, NULL, NULL, NULL},
};

enum { DESCRIPTIONS = sizeof(descriptions) / sizeof(descriptions[0]) - 1 };

#define DELAY_NS UINT64_C(2000000000)
#define DELAY_MIN_NS UINT64_C(10000000)

const struct description *
describe_option(int code)
{
	const struct description *d = descriptions;
	while (d->code != code && d->code != 0)
		d++;
	return d;
}

bool
accepts_option(const struct verb *verb, int code)
{
	for (const int *accepted = verb->accepts; *accepted != 0; accepted++) {
		if (*accepted == code)
			return true;
	}
	return code == 'h' || code == 'V';
}

/* ---- values ---- */

static _Noreturn void
bad_value(const char *name, const char *option, const char *value, enum parsed how, const char *expected)
{
	die(name, "%s '%s' is %s (use %s)", option, value, how == PARSE_OUT_OF_RANGE ? "out of range" : "not valid",
	    expected);
}

static void
set_permits(struct options *o, const char *value)
{
	uint64_t number = 0;
	enum parsed how;
	const size_t length = strlen(value);
	if (length > 1 && value[length - 1] == '%') {
		char digits[16];
		snprintf(digits, sizeof(digits), "%.*s", (int)(length - 1 < 15 ? length - 1 : 15), value);
		how = parse_number(digits, 1, 1000000, &number);
		const long processors = sysconf(_SC_NPROCESSORS_ONLN);
		number = number * (uint64_t)(processors > 0 ? processors : 1) / 100;
		if (number == 0)
			number = 1;
	} else {
		how = parse_number(value, 0, UINT32_MAX, &number);
	}
	if (how != PARSED)
		bad_value(o->name, "-j", value, how, "0 to 4294967295, or a percentage of the processors as in 50%");
	o->has_permits = true;
	o->permits = (uint32_t)number;
}

static void
set_number(const char *name, const char *option, const char *value, uint64_t min, uint64_t max, uint64_t *number)
{
	char expected[64];
	const enum parsed how = parse_number(value, min, max, number);
	snprintf(expected, sizeof(expected), "%llu to %llu", (unsigned long long)min, (unsigned long long)max);
	if (how != PARSED)
		bad_value(name, option, value, how, expected);
}

static void
set_deadline(struct options *o, uint64_t timeout_ns)
{
	enum { NS_PER_SECOND = 1000000000 };
	clock_gettime(CLOCK_MONOTONIC, &o->deadline);
	const uint64_t ns = (uint64_t)o->deadline.tv_nsec + timeout_ns % NS_PER_SECOND;
	o->deadline.tv_sec += (time_t)(timeout_ns / NS_PER_SECOND + ns / NS_PER_SECOND);
	o->deadline.tv_nsec = (long)(ns % NS_PER_SECOND);
}

static void
set_sort(struct options *o, const char *value)
{
	o->sort = (enum top_column)columns_find(&top_columns, value);
}

static void
set_style(struct options *o, const char *value)
{
	if (strcmp(value, "pipe") != 0 && strcmp(value, "fifo") != 0)
		bad_value(o->name, "--jobserver-style", value, PARSE_NOT_A_NUMBER, "pipe or fifo");
	o->jobserver = true;
	o->jobserver_style = value[0] == 'f' ? JOBSERVER_FIFO : JOBSERVER_PIPE;
}

static void
set_mode(struct options *o, const char *value)
{
	uint64_t number = 0;
	enum parsed how = parse_mode(value, &number);
	if (how == PARSED && number == 0)
		how = PARSE_OUT_OF_RANGE;
	if (how != PARSED)
		bad_value(o->name, "--mode", value, how, "octal digits from 1 to 777, such as 0660");
	o->has_mode = true;
	o->mode = (mode_t)number;
}

static void
set_value(struct options *o, int code, const char *value)
{
	uint64_t number = 0;
	enum parsed how;
	switch (code) {
	case 'j':
		set_permits(o, value);
		break;
	case OPT_MAX:
		set_number(o->name, "--max", value, 1, UINT32_MAX, &number);
		o->max = (uint32_t)number;
		break;
	case 'm':
		set_mode(o, value);
		break;
	case 'k':
		set_number(o->name, "-k", value, 1, UINT32_MAX, &number);
		o->count = (uint32_t)number;
		break;
	case OPT_OWNER:
		set_number(o->name, "--owner", value, 1, (1U << 22) - 1, &number);
		o->owner = (pid_t)number;
		break;
	case 'w':
		how = parse_duration(value, &number);
		if (how != PARSED)
			bad_value(o->name, "-w", value, how, "seconds, or a number with ms, s, m, h or d, up to 100 years");
		o->has_timeout = true;
		set_deadline(o, number);
		break;
	case 'E':
		set_number(o->name, "-E", value, 0, 255, &number);
		o->conflict_status = (int)number;
		break;
	case 'c':
		o->shell_command = value;
		break;
	case OPT_JOBSERVER_STYLE:
		set_style(o, value);
		break;
	case OPT_ON_RECOVERED:
		o->on_recovered = value;
		break;
	case 'o':
		o->columns = value;
		break;
	case 'd':
		how = parse_duration(value, &o->delay_ns);
		if (how != PARSED || o->delay_ns < DELAY_MIN_NS)
			bad_value(o->name, "-d", value, how == PARSED ? PARSE_OUT_OF_RANGE : how,
			          "seconds, or a number with ms, s, m, h or d, at least 10ms");
		break;
	case 'i':
		set_number(o->name, "-i", value, 1, UINT32_MAX, &number);
		o->iterations = (uint32_t)number;
		break;
	case 's':
		set_sort(o, value);
		break;
	default:
		break;
	}
}

static void
set_flag(struct options *o, int code)
{
	switch (code) {
	case OPT_EXIST_OK:
		o->exist_ok = true;
		break;
	case 'n':
		o->nonblock = true;
		break;
	case 'b':
		o->batch = true;
		break;
	case 'p':
		o->print_previous = true;
		break;
	case 'f':
		o->force = true;
		break;
	case OPT_FOREIGN:
		o->foreign = true;
		break;
	case 'J':
		o->json = true;
		break;
	case OPT_STATS:
		o->stats = true;
		break;
	case OPT_NOHEADINGS:
		o->noheadings = true;
		break;
	case OPT_RAW:
		o->raw = true;
		break;
	case OPT_HOLDERS:
		o->holders = true;
		break;
	case OPT_ANY:
		o->any = true;
		break;
	case OPT_JOBSERVER:
		o->jobserver = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	default:
		break;
	}
}

/* ---- words ---- */

/* What getopt wants to know, for the options that the verb accepts. */
struct grammar {
	char shorts[2 * DESCRIPTIONS + 3];
	struct option longs[DESCRIPTIONS + 1];
};

static void
make_grammar(const struct verb *verb, struct grammar *grammar)
{
	size_t s = 0;
	size_t l = 0;
	grammar->shorts[s++] = '+'; /* stop at the first word that is no option */
	grammar->shorts[s++] = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < DESCRIPTIONS; i++) {
		const struct description *d = &descriptions[i];
		if (!accepts_option(verb, d->code))
			continue;
		if (d->code < OPT_MAX) {
			grammar->shorts[s++] = (char)d->code;
			if (d->argument != NULL)
				grammar->shorts[s++] = ':';
		}
		grammar->longs[l++] = (struct option){
			.name = d->name,
			.has_arg = d->argument == NULL ? no_argument : required_argument,
			.val = d->code,
		};
	}
	grammar->shorts[s] = '\0';
	grammar->longs[l] = (struct option){0};
}

static _Noreturn void
bad_option(const struct verb *verb, const struct options *o, int problem, char **argv)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	const char *last = argv[optind - 1];
	const bool is_long = strncmp(last, "--", 2) == 0;
	const char *what = problem == ':'           ? "missing argument of option"
	                   : is_long && optopt != 0 ? "superfluous argument of option"
	                                            : "unknown option";
	die(o->name, "%s '%s' (see 'tsem %s --help')", what, is_long ? last : letter, verb->name);
}

/* Options up to the next word that is none. Sets *end at "--". */
static void
parse_options(const struct verb *verb, const struct grammar *grammar, int argc, char **argv, struct options *o,
              bool *end)
{
	while (!*end) {
		if (optind < argc && strcmp(argv[optind], "--") == 0) {
			optind++;
			*end = true;
			break;
		}
		const int code = getopt_long(argc, argv, grammar->shorts, grammar->longs, NULL);
		if (code == -1)
			break;
		if (code == '?' || code == ':')
			bad_option(verb, o, code, argv);
		if (code == 'h') {
			print_help(verb);
			flush_stdout(NULL);
			exit(EXIT_DONE);
		}
		if (code == 'V') {
			print_version();
			flush_stdout(NULL);
			exit(EXIT_DONE);
		}
		if (optarg != NULL)
			set_value(o, code, optarg);
		else
			set_flag(o, code);
	}
}

void
options_parse(const struct verb *verb, int argc, char **argv, struct options *o)
{
	struct grammar grammar;
	bool end = false;
	*o = (struct options){.count = 1, .conflict_status = EXIT_NOT_ACQUIRED, .delay_ns = DELAY_NS, .sort = TOP_WAITING};
	make_grammar(verb, &grammar);
	opterr = 0;
	optind = 1;

	parse_options(verb, &grammar, argc, argv, o, &end);
	if (verb->operands != OPERANDS_NONE && (optind < argc || verb->operands != OPERANDS_OPTIONAL_NAME)) {
		if (optind >= argc)
			die(NULL, "%s needs the NAME of a semaphore (see 'tsem %s --help')", verb->name, verb->name);
		o->name = argv[optind++];
		parse_options(verb, &grammar, argc, argv, o, &end);
	}
	if (o->nonblock && o->has_timeout)
		die(o->name, "-n and -w exclude each other (use one of them)");
	o->command = argv + optind;
	if (verb->operands != OPERANDS_NAME_AND_COMMAND && optind < argc)
		die(o->name, "unexpected word '%s' (see 'tsem %s --help')", argv[optind], verb->name);
}
