/* SPDX-License-Identifier: MIT */
/* The verbs of the command, one cmd_<verb>.c each. They return the exit status. */
#ifndef TSEM_CLI_CMD_H
#define TSEM_CLI_CMD_H

#include "message.h"
#include "options.h"
#include "tsem.h"

int cmd_create(const struct options *o);
int cmd_take(const struct options *o);
int cmd_post(const struct options *o);
int cmd_acquire(const struct options *o);
int cmd_release(const struct options *o);
int cmd_run(const struct options *o);
int cmd_set(const struct options *o);
int cmd_wait(const struct options *o);
int cmd_cancel(const struct options *o);
int cmd_recover(const struct options *o);
int cmd_remove(const struct options *o);

#endif
