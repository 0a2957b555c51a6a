/* SPDX-License-Identifier: MIT */
/* `tsem run --nested` on etcd. */
#ifndef TSEM_CLI_ETCD_NESTED_H
#define TSEM_CLI_ETCD_NESTED_H

#include "options.h"

/*
 * If this process or an ancestor holds at least as many permits as `o` asks for, becomes the command, or exits if that
 * fails. Comes back if there is none.
 */
void nested_run(const struct options *o, char **command);

#endif
