/* SPDX-License-Identifier: MIT */
#ifndef TSEM_CLI_TOP_KEYS_H
#define TSEM_CLI_TOP_KEYS_H

#include "top/top.h"

/* Handles a key. False if it ends the program. */
bool top_key(struct top *top, int key);

#endif
