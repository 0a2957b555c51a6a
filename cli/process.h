/* SPDX-License-Identifier: MIT */
/* Reading about other processes, for people to look at. */
#ifndef TSEM_CLI_PROCESS_H
#define TSEM_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tsem.h"

/* The command line of an owner: "?" if it is dead, or its pid is not ours to look up. */
void owner_command(const struct tsem_owner *owner, char *text, size_t size);

/* The command line, arguments separated by spaces, as valid UTF-8 without control characters; "?" if unknown. */
void process_command(pid_t pid, char *text, size_t size);

/* Stopped by a signal, or by a debugger. False if that cannot be looked up. */
bool process_is_stopped(const struct tsem_owner *owner);

#endif
