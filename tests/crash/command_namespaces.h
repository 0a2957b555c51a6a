/* SPDX-License-Identifier: MIT */
/* Namespaces that separate the processes of a sweep from all others. */
#ifndef TSEM_TESTS_CRASH_COMMAND_NAMESPACES_H
#define TSEM_TESTS_CRASH_COMMAND_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Runs `work` in a child, and returns its exit status. If the system permits, the child has a PID namespace, a /proc
 * and a /dev/shm of its own, and `alone` is true.
 */
int namespaces_run(int (*work)(bool alone, void *arg), void *arg);

/*
 * From now on, the children of this process are in the PID namespace of the process `first`, or if that is 0, in a new
 * one, whose first process is the next child. namespaces_leave(): in that of this process.
 */
void namespaces_enter(pid_t first);
void namespaces_leave(void);

#endif
