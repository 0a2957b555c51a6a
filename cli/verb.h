/* SPDX-License-Identifier: MIT */
/* One row of the tables of verbs: in main.c those of the command itself, in view.c those of the other two programs. */
#ifndef TSEM_CLI_VERB_H
#define TSEM_CLI_VERB_H

struct columns;
struct options;

/* Bits, so that an option can name the verbs that accept it. */
enum verb_id {
	VERB_RUN = 1 << 0,
	VERB_CREATE = 1 << 1,
	VERB_TAKE = 1 << 2,
	VERB_POST = 1 << 3,
	VERB_ACQUIRE = 1 << 4,
	VERB_RELEASE = 1 << 5,
	VERB_SHOW = 1 << 6,
	VERB_LIST = 1 << 7,
	VERB_TOP = 1 << 8,
	VERB_SET = 1 << 9,
	VERB_WAIT = 1 << 10,
	VERB_CANCEL = 1 << 11,
	VERB_RECOVER = 1 << 12,
	VERB_REMOVE = 1 << 13,
	VERB_HELP = 1 << 14,
	VERB_ALL = (1 << 15) - 1,
};

enum operands {
	OPERANDS_NONE,
	OPERANDS_NAME,
	OPERANDS_OPTIONAL_NAME,
	OPERANDS_NAME_AND_COMMAND, /* options end at the first word after NAME that is not an option */
};

struct verb {
	enum verb_id id;
	const char *name;
	const char *words; /* operands in the usage line, or NULL */
	const char *summary;
	enum operands operands;
	const struct columns *columns; /* of its table, or NULL */
	const char *program;           /* the program that does the work, or NULL: this one, by run() */
	int (*run)(const struct options *o);
};

#endif
