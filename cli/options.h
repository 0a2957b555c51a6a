/* SPDX-License-Identifier: MIT */
/* The options of all verbs: one table, one parser. Each option is one row, and has one field for its value. */
#ifndef TSEM_CLI_OPTIONS_H
#define TSEM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "columns.h"
#include "verb.h"

/* What becomes of the command if the store may have given its permits to another holder. */
enum on_lost { LOST_STOP = -1, LOST_IGNORE = 0 /* above: the number of the signal that it gets */ };

/* Clients reach a jobserver by two descriptors, or by the path of a named pipe. */
enum jobserver_style { JOBSERVER_PIPE, JOBSERVER_FIFO };

struct view_options {
	bool json, stats, metrics, noheadings, raw;
	const char *columns; /* NULL: the default ones */
	uint64_t delay_ns;   /* between two looks of `watch` */
};

struct top_options {
	bool batch;
	uint64_t delay_ns;
	uint32_t iterations; /* 0: no limit */
	enum top_column sort;
};

/* What the words after the verb say. */
struct options {
	bool help, version;
	const char *name;   /* NULL: not given */
	const char **names; /* if there are several: all of them, of which `name` is the first */
	size_t names_n;
	bool remote;    /* the name is that of a semaphore on etcd, or of the store itself */
	char **command; /* ends with NULL */
	bool foreign;

	bool has_permits;
	uint32_t permits;
	uint32_t max;
	bool has_available;
	uint32_t available; /* at first */
	mode_t mode;        /* 0: not given */
	bool has_group;
	gid_t group;
	bool exist_ok;
	bool exact;

	uint32_t count;  /* 0: all */
	uint32_t owner;  /* 0: not given */
	uint32_t pid_ns; /* that of the owner; 0: not given */
	bool nonblock;
	bool has_timeout;
	struct timespec deadline; /* the timeout counts from when it is parsed */
	uint32_t max_waiting;     /* 0: no limit */
	uint32_t conflict_status;
	bool quiet;
	bool verbose;

	bool print_previous;
	bool force;
	bool idle; /* only what is not in use */
	bool holders;
	bool job_status; /* wait for the background jobs of this session */

	bool any;
	bool nested;
	bool no_fork;
	bool background;
	const char *log; /* of a background job; NULL: none */
	const char *shell_command;
	const char *on_recovered;
	const char *slot_env;
	uint32_t ttl_s; /* of the lease on a store */
	int on_lost;    /* an enum on_lost, or a signal */
	bool jobserver;
	enum jobserver_style jobserver_style;

	struct view_options view;
	struct top_options top;
};

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
	unsigned verbs;        /* those that accept it: a set of enum verb_id */
	unsigned required;     /* those that need it */
	bool local;            /* means nothing for a semaphore on etcd */
	bool remote;           /* means nothing for one of this machine */
	bool excludes_next;    /* cannot be combined with the option of the next row */
	bool replaces_command; /* stands in place of the command of `tsem run` */

	/* Where the value goes: one of these, or a function for all others. */
	bool *flag;
	const char **text;
	uint32_t *number;
	uint32_t min, max; /* of the number */
	void (*parse)(const struct option_row *row, const char *value);
};

/* In the order of usage lines and help. */
extern const struct option_row option_rows[];
extern const size_t option_rows_n;

enum { OPTION_TEXT_MAX = 32 };

/* As usage lines and messages name it: "-j", or "--max" if it has no letter. */
void option_to_text(const struct option_row *row, char text[OPTION_TEXT_MAX]);

bool verb_accepts(const struct verb *verb, const struct option_row *row);

/*
 * Parses the words after the verb, of which argv[0] is the verb. Stops early at --help and --version. Dies of a
 * mistake.
 */
const struct options *options_parse(const struct verb *verb, int argc, char **argv);

#endif
