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
 * If the command is make: takes a -j without a number out of its arguments, in place, since make would leave the
 * jobserver for it. Returns -1 to go on, or the exit status: a -j with a number is a mistake, and was reported.
 */
int jobserver_adapt_make(const char *name, char **command);

#endif
