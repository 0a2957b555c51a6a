/* SPDX-License-Identifier: MIT */
/* The command of `tsem run`, wherever its permits come from. */
#ifndef TSEM_CLI_COMMAND_H
#define TSEM_CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"

/* What to execute. Dies if the user has given no command, or two. */
char **command_words(const struct options *o);

/* Sets TSEM_NAME, TSEM_COUNT, TSEM_SLOT, TSEM_SLOTS, which lists the slots of all holds, and the variable of o->slot_env. */
void command_set_permits(const struct options *o, const char *name, uint64_t count, const uint32_t *slots, size_t n);

void command_set_recovered(bool recovered);
void command_set_fence(int64_t fence); /* on etcd */

/* The exit status after its end. Dies of an interactive signal as the command did, unless that is a background job. */
int command_status(const struct options *o, const siginfo_t *end);

/*
 * Says that exec has failed. Returns the exit status. `forgotten`: the semaphore was made for this command only, so its
 * name may be the command; or NULL.
 */
int command_not_executed(const struct options *o, const char *command, int error, const char *forgotten);

/* The command of --on-recovered, as command_words(). */
char **command_repair_words(const struct options *o);

/* Says that it failed, or that there was no process for it: `error` is a negative errno then. */
_Noreturn void die_of_repair(const struct options *o, int error);

/*
 * With --nested, becomes the command under the permits of the process `holder`. Returns the exit status if that fails.
 * TSEM_RECOVERED stays: the holder was told.
 */
int command_become(const struct options *o, char **command, pid_t holder);

/* Says that there is no child. */
_Noreturn void die_of_fork(const struct options *o, int error);

#endif
