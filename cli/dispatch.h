/* SPDX-License-Identifier: MIT */
/* What every verb of every program begins with. */
#ifndef TSEM_CLI_DISPATCH_H
#define TSEM_CLI_DISPATCH_H

#include "options.h"

/* Parses the words after argv[0], the verb, then runs it or prints what they ask for. Returns the exit status. */
int dispatch(const struct verb *verb, int (*run)(const struct options *o), int argc, char **argv);

#endif
