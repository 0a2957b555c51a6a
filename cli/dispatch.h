/* SPDX-License-Identifier: MIT */
/* What every verb of every program begins with. */
#ifndef TSEM_CLI_DISPATCH_H
#define TSEM_CLI_DISPATCH_H

#include "options.h"

/* A verb that a program does. run() returns the exit status. */
struct verb_runner {
	enum verb_id id;
	int (*run)(const struct options *o);
};

/*
 * Each program has one. libsmartcols and its like take longer to load than all the rest of `tsem run` takes. So what
 * needs them is a program of its own, by which the command replaces itself.
 */
struct program {
	const char *name;
	const struct verb_runner *actions; /* the last row is zero */
};

extern const struct program this_program;

/*
 * Parses the words after argv[1], the verb. Then runs the verb, becomes the program that does it, or prints the help or
 * the version. Returns the exit status.
 */
int dispatch(const struct verb *verb, int argc, char **argv);

#endif
