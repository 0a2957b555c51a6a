/* SPDX-License-Identifier: MIT */
/* Namespaces that separate the processes of a sweep from all others. */
#ifndef TSEM_TESTS_CRASH_COMMAND_NAMESPACES_H
#define TSEM_TESTS_CRASH_COMMAND_NAMESPACES_H

#include <stdbool.h>

/*
 * Runs `work` in a child, and returns its exit status. If the system permits, the child has a PID namespace, a /proc
 * and a /dev/shm of its own, and `alone` is true.
 */
int namespaces_run(int (*work)(bool alone, void *arg), void *arg);

#endif
