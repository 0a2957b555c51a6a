/* SPDX-License-Identifier: MIT */
/* What --help prints, made from the tables of verbs, options and columns. */
#ifndef TSEM_CLI_HELP_H
#define TSEM_CLI_HELP_H

#include "options.h"

void print_help(const struct verb *verb);

void print_version(void);

#endif
