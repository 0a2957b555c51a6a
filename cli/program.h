/* SPDX-License-Identifier: MIT */
/*
 * Verbs that print tables or draw on the screen are programs of their own: libsmartcols and its like take longer to
 * load than all the rest of `tsem run` takes. The command replaces itself by such a program.
 */
#ifndef TSEM_CLI_PROGRAM_H
#define TSEM_CLI_PROGRAM_H

#include "verb.h"

/* `argv`: all words of the command, for the program to parse. */
_Noreturn void become_program(const struct verb *verb, char **argv);

#endif
