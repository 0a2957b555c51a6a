/* SPDX-License-Identifier: MIT */
/* Children in other PID namespaces. All are children of this process, which knows their numbers and reaps them. */
#ifndef TSEM_TESTS_CRASH_PID_NAMESPACE_H
#define TSEM_TESTS_CRASH_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the system permits it. If not, errno says why. */
bool pid_namespace_is_permitted(void);

/*
 * As fork(), but the child is in the PID namespace of the process `first`, or if that is 0, the first process of a new
 * one. The processes of a namespace die with the first one, which ends when all others have been reaped.
 */
pid_t pid_namespace_fork(pid_t first);

/* From now on, all children are as those of pid_namespace_fork(), or of fork() again. */
void pid_namespace_enter(pid_t first);
void pid_namespace_leave(void);

/* The number of the process in its own namespace. 0: not known. */
uint32_t pid_namespace_number(pid_t pid);

#endif
