/* SPDX-License-Identifier: MIT */
/* The verbs, and what each one accepts. */
#ifndef TSEM_CLI_VERB_H
#define TSEM_CLI_VERB_H

#include <stddef.h>

struct columns;

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
	VERB_WATCH = 1 << 14,
	VERB_HELP = 1 << 15,
	VERB_ALL = (1 << 16) - 1,
};

enum operands {
	OPERANDS_NONE,
	OPERANDS_OPTIONAL_STORE,
	OPERANDS_NAME,
	OPERANDS_OPTIONAL_NAME,
	OPERANDS_NAMES, /* one after the other; none with --idle */
	OPERANDS_NAMES_TOGETHER,
	OPERANDS_NAME_AND_COMMAND, /* options end at the first word after NAME that is not an option */
};

struct verb {
	enum verb_id id;
	const char *name;
	const char *elsewhere; /* words for it in other tools, or NULL */
	const char *words;     /* operands in the usage line, or NULL */
	const char *summary;
	const char
		*on_etcd; /* what differs for a semaphore on etcd; NULL: nothing but the options that do not work there */
	const char *examples[2];
	enum operands operands;
	const struct columns *columns; /* of its table, or NULL */
	const char *program;           /* the program that does the work, or NULL: tsem itself */
};

/* In the order of the help. */
extern const struct verb verbs[];
extern const size_t verbs_n;

/* NULL if no verb has this name. */
const struct verb *verb_find(const char *word);

#endif
