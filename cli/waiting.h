/* SPDX-License-Identifier: MIT */
/* What take, acquire and run share: opening, the wait with its messages and signals, and how it ends. */
#ifndef TSEM_CLI_WAITING_H
#define TSEM_CLI_WAITING_H

#include "options.h"
#include "tsem.h"

/* Opens o->name, or with -j creates it. Returns -1 to go on, or an exit status. */
int open_for_use(const struct options *o, tsem **sem);

/* It exists with another number of permits than o->permits. Returns EXIT_TSEM_FAILED. */
int complain_about_limit(const struct options *o);

/* hold NULL: take. Returns 0 or the library's error; a signal that ended the wait ends this process. */
int wait_for_permits(tsem *sem, const struct options *o, tsem_hold *hold);

/* The exit status for what wait_for_permits returned, with a message where one is due. */
int explain_wait(tsem *sem, const struct options *o, int error);

#endif
