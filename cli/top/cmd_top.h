/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_CMD_TOP_H
#define TSEM_CLI_TOP_CMD_TOP_H

#include "options.h"

int cmd_top(const struct options *o);

#endif
