/* SPDX-License-Identifier: MIT */
/* What GNU make reads: MAKEFLAGS, and -j among its arguments. */
#ifndef TSEM_CLI_JOBSERVER_FLAGS_H
#define TSEM_CLI_JOBSERVER_FLAGS_H

/*
 * A copy of the MAKEFLAGS `old`, which may be NULL, with `auth` in place of any other jobserver and any number of jobs.
 * The caller frees it. NULL if there is no memory.
 */
char *jobserver_makeflags(const char *old, const char *auth);

/*
 * If the command is make: removes a -j without a number from its arguments, in place, because make would leave the
 * jobserver for it. Dies of a -j with a number.
 */
void jobserver_adapt_make(const char *name, char **command);

#endif
