/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"
#include "number.h"
#include "suggest.h"
#include "user.h"

#define TOP_DELAY_NS (2 * NS_PER_SECOND)
#define WATCH_DELAY_NS (100 * NS_PER_MS)
#define TTL_MAX_NS (UINT64_C(86400) * NS_PER_SECOND)
#define GROUP_MAX (UINT32_MAX - 1) /* the highest number stands for no group */
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

enum {
	TTL_S = 30,
	TTL_S_MIN = 2, /* that etcd grants */
	PID_MAX = (1 << 22) - 1,
	STATUS_MAX = 255,
	WAITING_VERBS = VERB_RUN | VERB_TAKE | VERB_ACQUIRE | VERB_WAIT,
	TABLE_VERBS = VERB_SHOW | VERB_LIST,
};

/* The first ones given that mean nothing for a semaphore on etcd, or for one of this machine. */
static const struct option_row *local_row;
static const struct option_row *remote_row;

static struct options given = {
	.count = 1,
	.conflict_status = EXIT_NOT_ACQUIRED,
	.ttl_s = TTL_S,
	.on_lost = LOST_STOP,
	.view = {.delay_ns = WATCH_DELAY_NS},
	.top = {.delay_ns = TOP_DELAY_NS, .sort = TOP_WAITING},
};

/* ---- values ---- */

static void
require_parsed(enum parsed how, const struct option_row *row, const char *value, const char *expected)
{
	char option[OPTION_TEXT_MAX];
	if (how == PARSED)
		return;
	option_to_text(row, option);
	die(given.name, "%s '%s' is %s (use %s)", option, value, how == PARSE_OUT_OF_RANGE ? "out of range" : "not valid",
	    expected);
}

static void
parse_u32(const struct option_row *row, const char *value)
{
	char expected[64];
	uint64_t number = 0;
	snprintf(expected, sizeof(expected), "%" PRIu32 " to %" PRIu32, row->min, row->max);
	require_parsed(parse_number(value, row->min, row->max, &number), row, value, expected);
	*row->number = (uint32_t)number;
}

static void
parse_count(const struct option_row *row, const char *value)
{
	uint64_t count = 0;
	if (strcmp(value, "all") != 0)
		require_parsed(parse_number(value, 1, UINT32_MAX, &count), row, value, "1 to 4294967295, or all");
	given.count = (uint32_t)count;
}

static enum parsed
parse_percentage(const char *value, size_t length, uint64_t *permits)
{
	enum { PERCENT_MAX = 1000000 };
	char digits[16];
	uint64_t percent = 0;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	snprintf(digits, sizeof(digits), "%.*s", (int)(length < sizeof(digits) ? length : sizeof(digits) - 1), value);
	const enum parsed how = parse_number(digits, 1, PERCENT_MAX, &percent);
	*permits = percent * (uint64_t)(processors > 0 ? processors : 1) / 100;
	if (*permits == 0)
		*permits = 1;
	return how;
}

static void
parse_permits(const struct option_row *row, const char *value)
{
	uint64_t permits = 0;
	const size_t length = strlen(value);
	const bool percentage = length > 1 && value[length - 1] == '%';
	const enum parsed how =
		percentage ? parse_percentage(value, length - 1, &permits) : parse_number(value, 0, UINT32_MAX, &permits);
	require_parsed(how, row, value, "0 to 4294967295, or a percentage of the processors as in 50%");
	given.has_permits = true;
	given.permits = (uint32_t)permits;
}

static void
parse_available(const struct option_row *row, const char *value)
{
	uint64_t available = 0;
	require_parsed(parse_number(value, 0, UINT32_MAX, &available), row, value, "0 to 4294967295");
	given.has_available = true;
	given.available = (uint32_t)available;
}

static void
parse_access_mode(const struct option_row *row, const char *value)
{
	uint64_t mode = 0;
	enum parsed how = parse_mode(value, &mode);
	if (how == PARSED && mode == 0)
		how = PARSE_OUT_OF_RANGE;
	require_parsed(how, row, value, "octal digits from 1 to 777, such as 0660");
	given.mode = (mode_t)mode;
}

static void
parse_group(const struct option_row *row, const char *value)
{
	uint64_t number = 0;
	enum parsed how = parse_number(value, 0, GROUP_MAX, &number);
	given.group = (gid_t)number;
	if (how == PARSE_NOT_A_NUMBER && group_find(value, &given.group))
		how = PARSED;
	require_parsed(how, row, value, "a group of /etc/group, or the number of a group");
	given.has_group = true;
}

static void
parse_timeout(const struct option_row *row, const char *value)
{
	uint64_t ns = 0;
	require_parsed(parse_duration(value, &ns), row, value,
	               "seconds, or numbers with d, h, m, s or ms as in 1m30s, up to 100 years");
	given.has_timeout = true;
	given.deadline = to_timespec(monotonic_ns() + ns);
}

static void
parse_delay(const struct option_row *row, const char *value)
{
	uint64_t *ns = row->verbs == VERB_WATCH ? &given.view.delay_ns : &given.top.delay_ns;
	char expected[96];
	snprintf(expected, sizeof(expected),
	         "seconds, or numbers with d, h, m, s or ms as in 1m30s, from %" PRIu32 "ms to 100 years", row->min);
	enum parsed how = parse_duration(value, ns);
	if (how == PARSED && *ns < row->min * NS_PER_MS)
		how = PARSE_OUT_OF_RANGE;
	require_parsed(how, row, value, expected);
}

static void
parse_sort(const struct option_row *row, const char *value)
{
	(void)row;
	given.top.sort = (enum top_column)columns_find(&top_columns, value);
}

static void
parse_style(const struct option_row *row, const char *value)
{
	const bool known = strcmp(value, "pipe") == 0 || strcmp(value, "fifo") == 0;
	require_parsed(known ? PARSED : PARSE_NOT_A_NUMBER, row, value, "pipe or fifo");
	given.jobserver = true;
	given.jobserver_style = value[0] == 'f' ? JOBSERVER_FIFO : JOBSERVER_PIPE;
}

static void
parse_variable(const struct option_row *row, const char *value)
{
	const bool known = strspn(value, LETTERS "0123456789_") == strlen(value) && strspn(value, LETTERS "_") > 0;
	require_parsed(known ? PARSED : PARSE_NOT_A_NUMBER, row, value, "letters, digits and '_', not a digit first");
	given.slot_env = value;
}

static void
parse_ttl(const struct option_row *row, const char *value)
{
	uint64_t ns = 0;
	enum parsed how = parse_duration(value, &ns);
	if (how == PARSED && (ns < TTL_S_MIN * NS_PER_SECOND || ns > TTL_MAX_NS || ns % NS_PER_SECOND != 0))
		how = PARSE_OUT_OF_RANGE;
	require_parsed(how, row, value, "whole seconds, or numbers with m or h, from 2s to 24h");
	given.ttl_s = (uint32_t)(ns / NS_PER_SECOND);
}

static void
parse_on_lost(const struct option_row *row, const char *value)
{
	bool known = true;
	if (strcmp(value, "stop") == 0)
		given.on_lost = LOST_STOP;
	else if (strcmp(value, "ignore") == 0)
		given.on_lost = LOST_IGNORE;
	else
		known = parse_signal(value, &given.on_lost);
	require_parsed(known ? PARSED : PARSE_NOT_A_NUMBER, row, value, "stop, ignore, or a signal such as USR1");
}

static void
set_option(const struct option_row *row, const char *value)
{
	if (row->local && local_row == NULL)
		local_row = row;
	if (row->remote && remote_row == NULL)
		remote_row = row;
	if (row->flag != NULL)
		*row->flag = true;
	else if (row->text != NULL)
		*row->text = value;
	else if (row->number != NULL)
		parse_u32(row, value);
	else
		row->parse(row, value);
}

/* ---- the table ---- */

/* clang-format off */
const struct option_row option_rows[] = {
	{.name = "owner", .argument = "PID", .help = "process that holds, $$ in a script",
	 .verbs = VERB_ACQUIRE | VERB_RELEASE, .required = VERB_ACQUIRE | VERB_RELEASE,
	 .number = &given.owner, .min = 1, .max = PID_MAX},
	{.name = "owner", .argument = "PID", .help = "only this process, numbered as in 'tsem show'",
	 .verbs = VERB_CANCEL | VERB_RECOVER, .number = &given.owner, .min = 1, .max = PID_MAX},
	{.name = "pid-ns", .argument = "NS", .help = "PID namespace of PID, see lsns(8)",
	 .verbs = VERB_CANCEL | VERB_RECOVER, .local = true, .number = &given.pid_ns, .min = 1, .max = UINT32_MAX},
	{.letter = 'j', .name = "permits", .argument = "N", .help = "permits of the semaphore, or N% of processors",
	 .verbs = VERB_RUN, .parse = parse_permits},
	{.letter = 'j', .name = "permits", .argument = "N", .help = "permits, or N% of processors; default 1",
	 .verbs = VERB_CREATE, .parse = parse_permits},
	{.letter = 'j', .name = "permits", .argument = "N", .help = "the new capacity, or N% of processors",
	 .verbs = VERB_SET, .parse = parse_permits},
	{.name = "exact", .help = "correct the count of available permits",
	 .verbs = VERB_SET, .flag = &given.exact},
	{.name = "max", .argument = "M", .help = "posts make at most M permits available",
	 .verbs = VERB_CREATE, .local = true, .number = &given.max, .min = 1, .max = UINT32_MAX},
	{.name = "available", .argument = "N", .help = "N permits are available at first; default all",
	 .verbs = VERB_CREATE, .parse = parse_available},
	{.letter = 'm', .name = "mode", .argument = "MODE", .help = "permissions in octal, default 0600",
	 .verbs = VERB_RUN | VERB_CREATE, .local = true, .parse = parse_access_mode},
	{.letter = 'm', .name = "mode", .argument = "MODE", .help = "permissions in octal",
	 .verbs = VERB_SET, .local = true, .parse = parse_access_mode},
	{.letter = 'g', .name = "group", .argument = "GROUP", .help = "group that the semaphore belongs to",
	 .verbs = VERB_RUN | VERB_CREATE | VERB_SET, .local = true, .parse = parse_group},
	{.name = "exist-ok", .help = "accept one that exists with this -j",
	 .verbs = VERB_CREATE, .flag = &given.exist_ok},
	{.letter = 'k', .name = "count", .argument = "K", .help = "permits for the command, or all; default 1",
	 .verbs = VERB_RUN, .parse = parse_count},
	{.letter = 'k', .name = "count", .argument = "K", .help = "number of permits, or all; default 1",
	 .verbs = VERB_ACQUIRE, .parse = parse_count},
	{.letter = 'k', .name = "count", .argument = "K", .help = "number of permits; default 1",
	 .verbs = VERB_TAKE | VERB_POST, .number = &given.count, .min = 1, .max = UINT32_MAX},
	{.name = "holders", .help = "wait only until there are no holders",
	 .verbs = VERB_WAIT, .flag = &given.holders},
	{.name = "status", .help = "wait for the 'run --bg' jobs of this session",
	 .verbs = VERB_WAIT, .local = true, .flag = &given.job_status},
	{.letter = 'p', .name = "previous", .help = "print how many permits were available before",
	 .verbs = VERB_POST, .flag = &given.print_previous},
	{.letter = 'f', .name = "force", .help = "remove it even if it is in use or damaged",
	 .verbs = VERB_REMOVE, .excludes_next = true, .flag = &given.force},
	{.name = "idle", .help = "remove only what is not in use; NAME is optional",
	 .verbs = VERB_REMOVE, .local = true, .flag = &given.idle},
	{.letter = 'f', .name = "force", .help = "PID is dead, although nothing shows it",
	 .verbs = VERB_RECOVER, .flag = &given.force},
	{.letter = 'J', .name = "json", .help = "print JSON",
	 .verbs = TABLE_VERBS, .flag = &given.view.json},
	{.name = "stats", .help = "print statistics as well",
	 .verbs = VERB_SHOW, .local = true, .flag = &given.view.stats},
	{.name = "stats", .help = "with -J: print statistics as well",
	 .verbs = VERB_LIST, .local = true, .flag = &given.view.stats},
	{.name = "metrics", .help = "print OpenMetrics text, for monitoring",
	 .verbs = VERB_LIST, .local = true, .flag = &given.view.metrics},
	{.letter = 'o', .name = "output", .argument = "COLS", .help = "columns to print, separated by commas",
	 .verbs = TABLE_VERBS, .text = &given.view.columns},
	{.name = "noheadings", .help = "print no column headings",
	 .verbs = TABLE_VERBS, .flag = &given.view.noheadings},
	{.name = "raw", .help = "print columns without padding",
	 .verbs = TABLE_VERBS, .flag = &given.view.raw},
	{.letter = 'b', .name = "batch", .help = "print tables one after the other",
	 .verbs = VERB_TOP, .flag = &given.top.batch},
	{.letter = 'd', .name = "delay", .argument = "DUR", .help = "time between refreshes; default 2s",
	 .verbs = VERB_TOP, .min = 10, .parse = parse_delay},
	{.letter = 'd', .name = "delay", .argument = "DUR", .help = "time between two looks; default 100ms",
	 .verbs = VERB_WATCH, .local = true, .min = 1, .parse = parse_delay},
	{.letter = 'i', .name = "iterations", .argument = "N", .help = "exit after N refreshes",
	 .verbs = VERB_TOP, .number = &given.top.iterations, .min = 1, .max = UINT32_MAX},
	{.letter = 's', .name = "sort", .argument = "COL", .help = "column to sort by; default WAITING",
	 .verbs = VERB_TOP, .parse = parse_sort},
	{.letter = 'n', .name = "nonblock", .help = "do not wait: exit with status 75",
	 .verbs = WAITING_VERBS, .excludes_next = true, .flag = &given.nonblock},
	{.letter = 'w', .name = "timeout", .argument = "DUR",
	 .help = "wait at most this long, such as 10 or 1m30s",
	 .verbs = WAITING_VERBS, .parse = parse_timeout},
	{.name = "max-waiting", .argument = "N", .help = "exit with status 75 if N processes wait",
	 .verbs = VERB_RUN | VERB_TAKE | VERB_ACQUIRE, .number = &given.max_waiting, .min = 1,
	 .max = UINT32_MAX},
	{.letter = 'E', .name = "conflict-exit-code", .argument = "N", .help = "exit status instead of 75",
	 .verbs = WAITING_VERBS, .number = &given.conflict_status, .max = STATUS_MAX},
	{.name = "any", .help = "hold a permit of whichever grants one first",
	 .verbs = VERB_RUN, .flag = &given.any},
	{.name = "nested", .help = "use the permits of an ancestor that holds enough",
	 .verbs = VERB_RUN, .flag = &given.nested},
	{.letter = 'F', .name = "no-fork", .help = "become the command; no process waits beside it",
	 .verbs = VERB_RUN, .flag = &given.no_fork},
	{.name = "on-recovered", .argument = "COMMAND", .help = "run COMMAND first if an earlier holder died",
	 .verbs = VERB_RUN, .text = &given.on_recovered},
	{.name = "bg", .help = "return when queued; run in the background",
	 .verbs = VERB_RUN, .local = true, .flag = &given.background},
	{.name = "log", .argument = "FILE", .help = "with --bg: append output to FILE; %n is NAME",
	 .verbs = VERB_RUN, .local = true, .text = &given.log},
	{.name = "slot-env", .argument = "VAR", .help = "put the slots into the variable VAR as well",
	 .verbs = VERB_RUN, .parse = parse_variable},
	{.name = "ttl", .argument = "DUR", .help = "on etcd: hold this long without contact; 30s",
	 .verbs = VERB_RUN | VERB_ACQUIRE, .remote = true, .parse = parse_ttl},
	{.name = "on-lost", .argument = "ACTION", .help = "on etcd: stop (default), ignore, or a signal",
	 .verbs = VERB_RUN | VERB_ACQUIRE, .remote = true, .parse = parse_on_lost},
	{.name = "jobserver", .help = "be make's jobserver: one permit for each job",
	 .verbs = VERB_RUN, .local = true, .flag = &given.jobserver},
	{.name = "jobserver-style", .argument = "STYLE", .help = "the same: pipe (default), or fifo (for ninja)",
	 .verbs = VERB_RUN, .local = true, .parse = parse_style},
	{.letter = 'q', .name = "quiet", .help = "print nothing about the wait",
	 .verbs = WAITING_VERBS, .excludes_next = true, .flag = &given.quiet},
	{.letter = 'v', .name = "verbose", .help = "report the progress of a wait",
	 .verbs = WAITING_VERBS, .flag = &given.verbose},
	{.name = "foreign", .help = "accept a semaphore of another user",
	 .verbs = VERB_ALL & ~(VERB_SHOW | VERB_LIST | VERB_WATCH | VERB_HELP), .local = true, .flag = &given.foreign},
	{.letter = 'c', .name = "command", .argument = "COMMAND", .help = "run COMMAND with the shell",
	 .verbs = VERB_RUN, .replaces_command = true, .text = &given.shell_command},
	{.letter = 'h', .name = "help", .help = "print this help",
	 .verbs = VERB_ALL, .flag = &given.help},
	{.letter = 'V', .name = "version", .help = "print the version",
	 .verbs = VERB_ALL, .flag = &given.version},
};
/* clang-format on */

enum { ROWS = sizeof(option_rows) / sizeof(option_rows[0]) };
const size_t option_rows_n = ROWS;

bool
verb_accepts(const struct verb *verb, const struct option_row *row)
{
	return (row->verbs & verb->id) != 0;
}

void
option_to_text(const struct option_row *row, char text[OPTION_TEXT_MAX])
{
	if (row->letter != '\0')
		snprintf(text, OPTION_TEXT_MAX, "-%c", row->letter);
	else
		snprintf(text, OPTION_TEXT_MAX, "--%s", row->name);
}

/* ---- words ---- */

enum { FIRST_CODE = 256 }; /* getopt_long() returns this plus the row, or the letter */

struct parser {
	const struct verb *verb;
	int argc;
	char **argv;
	bool options_ended; /* by "--" */
	char shorts[2 * ROWS + 3];
	struct option longs[ROWS + 1];
};

static void
describe_options_to_getopt(struct parser *parser)
{
	char *shorts = parser->shorts;
	struct option *longs = parser->longs;
	*shorts++ = '+'; /* stop at the first word that is not an option */
	*shorts++ = ':'; /* return ':' for a missing argument, '?' for an unknown option */
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		if (!verb_accepts(parser->verb, row))
			continue;
		if (row->letter != '\0') {
			*shorts++ = row->letter;
			if (row->argument != NULL)
				*shorts++ = ':';
		}
		*longs++ = (struct option){
			.name = row->name,
			.has_arg = row->argument == NULL ? no_argument : required_argument,
			.val = FIRST_CODE + (int)i,
		};
	}
}

static const struct option_row *
find_row(const struct verb *verb, int code)
{
	const struct option_row *row = option_rows;
	if (code >= FIRST_CODE)
		return row + (code - FIRST_CODE);
	while (row->letter != code || !verb_accepts(verb, row))
		row++;
	return row;
}

/* `word`: as it was typed, with "--" and perhaps with an argument. */
static void
suggest_option(const struct verb *verb, const char *word, char text[SUGGESTION_TEXT_MAX])
{
	char typed[OPTION_TEXT_MAX];
	char option[OPTION_TEXT_MAX];
	struct suggestion suggestion;
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	suggestion_begin(&suggestion, typed);
	for (size_t i = 0; i < ROWS; i++) {
		snprintf(option, sizeof(option), "--%s", option_rows[i].name);
		if (verb_accepts(verb, &option_rows[i]))
			suggestion_try(&suggestion, option);
	}
	suggestion_to_text(&suggestion, text);
}

static _Noreturn void
die_of_option(const struct parser *parser, int problem)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	/* musl counts the missing argument of a letter as a word. */
	const char *last = parser->argv[(optind < parser->argc ? optind : parser->argc) - 1];
	const bool is_long = strncmp(last, "--", 2) == 0;
	const char *what = problem == ':'           ? "missing argument of option"
	                   : is_long && optopt != 0 ? "superfluous argument of option"
	                                            : "unknown option";
	char suggestion[SUGGESTION_TEXT_MAX] = "";
	if (problem != ':' && is_long && optopt == 0)
		suggest_option(parser->verb, last, suggestion);
	die(given.name, "%s '%s' (%ssee 'tsem %s --help')", what, is_long ? last : letter, suggestion, parser->verb->name);
}

/* Up to the next word that is not an option. */
static void
parse_options(struct parser *parser)
{
	while (!parser->options_ended && !given.help && !given.version) {
		if (optind < parser->argc && strcmp(parser->argv[optind], "--") == 0) {
			optind++;
			parser->options_ended = true;
			return;
		}
		const int code = getopt_long(parser->argc, parser->argv, parser->shorts, parser->longs, NULL);
		if (code == -1)
			return;
		if (code == '?' || code == ':')
			die_of_option(parser, code);
		set_option(find_row(parser->verb, code), optarg);
	}
}

static bool
begins_with_scheme(const char *word)
{
	return strncmp(word, "etcd:", strlen("etcd:")) == 0 || strncmp(word, "etcds:", strlen("etcds:")) == 0;
}

/* A name of this machine must not follow either, but what follows there may be a host: 'etcd://a:2379,b:2379/name'. */
static bool
is_remote(const char *name)
{
	const bool remote = begins_with_scheme(name);
	for (const char *comma = strchr(name, ','); !remote && comma != NULL; comma = strchr(comma + 1, ',')) {
		if (begins_with_scheme(comma + 1))
			die(name, "semaphores of two stores in one request (run one 'tsem run' inside another)");
	}
	return remote;
}

static void
add_further_name(const struct parser *parser, const char *name)
{
	if (given.names == NULL) {
		given.names = calloc((size_t)parser->argc, sizeof(*given.names));
		if (given.names == NULL)
			die_error(NULL, -ENOMEM);
		given.names[given.names_n++] = given.name;
	}
	if (is_remote(name) != given.remote)
		die(name, "a name on etcd and one of this machine (use a command for each)");
	given.names[given.names_n++] = name;
}

static void
parse_name(const struct parser *parser)
{
	const struct verb *verb = parser->verb;
	const char *word = optind < parser->argc ? parser->argv[optind] : NULL;
	if (verb->operands == OPERANDS_NONE
	    || (verb->operands == OPERANDS_OPTIONAL_STORE && (word == NULL || !begins_with_scheme(word))))
		return;
	if (word == NULL && (verb->operands == OPERANDS_OPTIONAL_NAME || given.idle))
		return;
	if (word == NULL)
		die(NULL, "%s needs the NAME of a semaphore (see 'tsem %s --help')", verb->name, verb->name);
	optind++;
	given.name = word;
	given.remote = is_remote(word);
}

static void
parse_further_names(struct parser *parser)
{
	const bool several = parser->verb->operands == OPERANDS_NAMES || parser->verb->operands == OPERANDS_NAMES_TOGETHER;
	while (several && optind < parser->argc && !given.help && !given.version) {
		add_further_name(parser, parser->argv[optind++]);
		parse_options(parser);
	}
}

static void
check_options_for_store(void)
{
	char option[OPTION_TEXT_MAX];
	const struct option_row *row = given.remote ? local_row : remote_row;
	if (row == NULL)
		return;
	option_to_text(row, option);
	if (given.remote)
		die(given.name, "%s does not work for a semaphore on etcd (leave it out, or see tsem-etcd(7))", option);
	die(given.name, "%s works only for a semaphore on etcd (leave it out, or see tsem-etcd(7))", option);
}

static bool
environment_is_verbose(void)
{
	const char *value = getenv("TSEM_VERBOSE");
	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

const struct options *
options_parse(const struct verb *verb, int argc, char **argv)
{
	struct parser parser = {.verb = verb, .argc = argc, .argv = argv};
	describe_options_to_getopt(&parser);
	opterr = 0;
	parse_options(&parser);
	if (given.help || given.version)
		return &given;
	parse_name(&parser);
	parse_options(&parser);
	parse_further_names(&parser);
	if (given.help || given.version)
		return &given;
	if (given.nonblock && given.has_timeout)
		die(given.name, "-n and -w exclude each other (use one of them)");
	if (given.job_status && given.names_n > 0)
		die(given.name, "--status is for a single name (give a command for each)");
	if (given.force && given.idle)
		die(given.name, "-f and --idle exclude each other (use one of them)");
	if (given.quiet && given.verbose)
		die(given.name, "-q and -v exclude each other (use one of them)");
	if (!given.quiet && environment_is_verbose())
		given.verbose = true;
	check_options_for_store();
	given.command = argv + optind;
	if (verb->operands != OPERANDS_NAME_AND_COMMAND && optind < argc)
		die(given.name, "unexpected word '%s' (see 'tsem %s --help')", argv[optind], verb->name);
	return &given;
}
