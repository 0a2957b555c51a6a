/* SPDX-License-Identifier: MIT */
/* The options of all verbs: one table, one parser. A verb says which of them it accepts. */
#ifndef TSEM_CLI_OPTIONS_H
#define TSEM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "columns.h"
#include "jobserver/flags.h"

/* Options without a short form. */
enum {
	OPT_MAX = 256,
	OPT_EXIST_OK,
	OPT_OWNER,
	OPT_FOREIGN,
	OPT_STATS,
	OPT_NOHEADINGS,
	OPT_RAW,
	OPT_HOLDERS,
	OPT_ANY,
	OPT_ON_RECOVERED,
	OPT_JOBSERVER,
	OPT_JOBSERVER_STYLE
};

/* Where the words end that belong to tsem. */
enum operands {
	OPERANDS_NONE,             /* no NAME */
	OPERANDS_NAME,             /* NAME, options before and behind it */
	OPERANDS_OPTIONAL_NAME,    /* the same, or none */
	OPERANDS_NAME_AND_COMMAND, /* options end at the first word behind NAME that is none, or at -- */
};

struct verb {
	const char *name;
	const char *words;   /* those behind the options in the usage line, or NULL */
	const char *summary; /* one line */
	const int *accepts;  /* option letters and codes, in the order of the usage line, ending with 0; not -h and -V */
	enum operands operands;
	int required;                  /* the option without which the verb does nothing, or 0 */
	int instead;                   /* the option that stands in place of a command, or 0 */
	const struct columns *columns; /* what -o may name */
	int (*run)(const struct verb *verb, int argc, char **argv);
};

struct description {
	int code;
	const char *name;     /* --name */
	const char *argument; /* NULL: takes none */
	const char *help;
};

/* All options there are, ending with code 0. */
extern const struct description descriptions[];

const struct description *describe_option(int code);
bool accepts_option(const struct verb *verb, int code);

struct options {
	const char *name;          /* NULL: none was given */
	char **command;            /* ends with NULL; of length 0 if there is none */
	const char *shell_command; /* -c */
	const char *on_recovered;

	bool has_permits;
	uint32_t permits; /* -j */
	uint32_t max;
	bool has_mode;
	mode_t mode;
	uint32_t count; /* -k */
	pid_t owner;    /* 0: none given */
	bool nonblock;
	bool has_timeout;
	struct timespec deadline; /* -w, from when it was read */
	int conflict_status;      /* -E */

	bool verbose, json, force, foreign, exist_ok, print_previous, stats, noheadings, raw, holders, any, jobserver;
	enum jobserver_style jobserver_style;
	const char *columns; /* -o */

	bool batch;
	uint64_t delay_ns;
	uint32_t iterations; /* 0: without end */
	enum top_column sort;
};

/* Parses the words behind the verb. Exits if they ask for help or contain a mistake. */
void options_parse(const struct verb *verb, int argc, char **argv, struct options *options);

#endif
