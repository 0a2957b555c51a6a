/* SPDX-License-Identifier: MIT */
/* What --help and --version print, made from the tables of verbs, options and columns. */
#ifndef TSEM_CLI_HELP_H
#define TSEM_CLI_HELP_H

struct verb;

void print_help(const struct verb *verb);
void print_version(void);

#endif
