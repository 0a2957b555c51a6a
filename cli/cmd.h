/* SPDX-License-Identifier: MIT */
/* The verbs of the command: one cmd_<verb>.c each, that parses, calls tsem.h, and prints. */
#ifndef TSEM_CLI_CMD_H
#define TSEM_CLI_CMD_H

#include "message.h"
#include "options.h"
#include "tsem.h"

int cmd_create(const struct verb *verb, int argc, char **argv);
int cmd_take(const struct verb *verb, int argc, char **argv);
int cmd_post(const struct verb *verb, int argc, char **argv);
int cmd_acquire(const struct verb *verb, int argc, char **argv);
int cmd_release(const struct verb *verb, int argc, char **argv);
int cmd_run(const struct verb *verb, int argc, char **argv);
int cmd_set(const struct verb *verb, int argc, char **argv);
int cmd_wait(const struct verb *verb, int argc, char **argv);
int cmd_cancel(const struct verb *verb, int argc, char **argv);
int cmd_recover(const struct verb *verb, int argc, char **argv);
int cmd_remove(const struct verb *verb, int argc, char **argv);

/* Verbs that print tables are the work of programs of their own: only they pay for loading the libraries for it. */
int cmd_view(const struct verb *verb, int argc, char **argv);

#endif
