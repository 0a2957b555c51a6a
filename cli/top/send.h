/* SPDX-License-Identifier: MIT */
/* Sends a signal to a process that holds or waits, and to no process that has got its number since. */
#ifndef TSEM_CLI_TOP_SEND_H
#define TSEM_CLI_TOP_SEND_H

#include "top/target.h"

/* Whether no signal can be sent to the process, and why. */
bool send_is_refused(const struct tsem_owner *owner, char why[RESULT_SIZE]);

/* `result`: what was done, or why nothing was. */
void send_signal(tsem *sem, const struct target *target, int number, char result[RESULT_SIZE]);

#endif
