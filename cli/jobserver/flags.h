/* SPDX-License-Identifier: MIT */
/* What GNU make reads: MAKEFLAGS, and the -j among its arguments. */
#ifndef TSEM_CLI_JOBSERVER_FLAGS_H
#define TSEM_CLI_JOBSERVER_FLAGS_H

/* How make and its clients reach a jobserver: by two descriptors, or by the path of a named pipe. */
enum jobserver_style { JOBSERVER_PIPE, JOBSERVER_FIFO };

/*
 * MAKEFLAGS that say what `old` (or NULL) says, but with `auth` as the jobserver in place of any other one and of any number
 * of jobs. To be freed; NULL: no memory.
 */
char *jobserver_makeflags(const char *old, const char *auth);

/*
 * If the command is make: removes a -j without a number from its arguments, in place, because make would leave the
 * jobserver for it. Dies of a -j with a number.
 */
void jobserver_adapt_make(const char *name, char **command);

#endif
