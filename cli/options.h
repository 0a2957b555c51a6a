/* SPDX-License-Identifier: MIT */
/* The options of all verbs: one table, one parser. A verb says which of them it accepts. */
#ifndef TSEM_CLI_OPTIONS_H
#define TSEM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Options without a short form. */
enum { OPT_MAX = 256, OPT_EXIST_OK, OPT_OWNER, OPT_FOREIGN, OPT_STATS, OPT_NOHEADINGS, OPT_RAW };

/* Where the words end that belong to tsem. */
enum operands {
	OPERANDS_NONE,             /* no NAME */
	OPERANDS_NAME,             /* NAME, options before and behind it */
	OPERANDS_NAME_AND_COMMAND, /* options end at the first word behind NAME that is none, or at -- */
};

struct verb {
	const char *name;
	const char *synopsis; /* behind "tsem VERB" */
	const char *summary;  /* one line */
	const int *accepts;   /* option letters and codes, ending with 0; -h is accepted by all */
	enum operands operands;
	int (*run)(const struct verb *verb, int argc, char **argv);
};

struct options {
	const char *name;
	char **command;            /* ends with NULL; of length 0 if there is none */
	const char *shell_command; /* -c */

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

	bool verbose, json, force, foreign, exist_ok, print_previous, stats, noheadings, raw;
	const char *columns; /* -o */
};

/*
 * Parses the words behind the verb. Returns -1 to go on, or the exit status to end with: help was printed, or there
 * is a mistake and it was reported.
 */
int options_parse(const struct verb *verb, int argc, char **argv, struct options *options);

/* Prints it; the exit status to end with. */
int print_version(void);

#endif
