/* SPDX-License-Identifier: MIT */
/* Replacing this process by another program of tsem. */
#ifndef TSEM_CLI_PROGRAM_H
#define TSEM_CLI_PROGRAM_H

#include "verb.h"

/* `argv`: all words of the command, for the program to parse. */
_Noreturn void become_program(const char *program, const struct verb *verb, char **argv);

#endif
