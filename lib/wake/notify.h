/* SPDX-License-Identifier: MIT */
/* Telling the processes in tsem_wait_idle() that the semaphore may be idle. */
#ifndef TSEM_LIB_NOTIFY_H
#define TSEM_LIB_NOTIFY_H

#include "protocol/handle.h"

/*
 * Wakes the processes that wait for idleness if the semaphore may be idle now. Every process that has moved G calls
 * this afterwards. One load if no process waits for idleness. Async-signal-safe.
 */
void notify_idle(struct tsem *sem);

/*
 * Clears these bits of `pending` and wakes the processes that wait for them; a process that still waits sets its bit
 * again. While a bit is set, every move of G costs a few more loads, so a process that stops waiting clears its bit,
 * and tsem_recover() clears those of dead processes.
 */
void notify_forget(struct tsem *sem, uint64_t bits);

/* Wakes all of them: the semaphore was removed. */
void notify_removal(struct tsem *sem);

#endif
