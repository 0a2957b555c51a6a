/* SPDX-License-Identifier: MIT */
/* Replacing this process by another program of tsem. */
#ifndef TSEM_CLI_PROGRAM_H
#define TSEM_CLI_PROGRAM_H

#include "verb.h"

/* Does what concerns semaphores on etcd. It comes with a package of its own. */
#define ETCD_PROGRAM "tsem-etcd"

/* `argv`: all words of the command, for the program to parse. */
_Noreturn void become_program(const char *program, const struct verb *verb, char **argv);

#endif
