/* SPDX-License-Identifier: MIT */
/* Reading about other processes, for people to look at. */
#ifndef TSEM_CLI_PROCESS_H
#define TSEM_CLI_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* The command line, arguments separated by spaces, as valid UTF-8 without control characters; "?" if unknown. */
void process_command(pid_t pid, char *text, size_t size);

#endif
