/* SPDX-License-Identifier: MIT */
/*
 * One mutex for what the threads of a process may do only one at a time, and do seldom. A fork waits until no thread
 * has it, so that a child does not inherit a locked mutex.
 */
#ifndef TSEM_LIB_PROCESS_MUTEX_H
#define TSEM_LIB_PROCESS_MUTEX_H

/* The caller does not have it yet. */
void process_mutex_lock(void);

void process_mutex_unlock(void);

#endif
