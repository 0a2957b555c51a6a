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

/*
 * Registers what forks do, as soon as the library is loaded or used: fork() calls the handlers that were registered last
 * first, and in the child last. So those of the program may call this library, and take a mutex under which it does so.
 */
void process_mutex_mind_forks(void);

#endif
