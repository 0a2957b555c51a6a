/* SPDX-License-Identifier: MIT */
/*
 * Deferred termination: the process records a terminating signal, restores what it has changed (a place in the queue,
 * the terminal), and then dies of the signal, so that its parent sees the true cause.
 */
#ifndef TSEM_CLI_TERMINATION_H
#define TSEM_CLI_TERMINATION_H

#include <signal.h>

enum { TERMINATION_SIGNALS = 4 };

/* The former actions. */
struct termination {
	struct sigaction old[TERMINATION_SIGNALS];
};

/*
 * From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are recorded. Signals that are ignored, as under nohup, stay ignored.
 */
void termination_defer(struct termination *termination);

void termination_restore(const struct termination *termination);

/* The signal that was recorded last, or 0. */
int termination_signal(void);

/* Adds the four signals to the set. */
void termination_add(sigset_t *set);

/* Dies of the signal even if it is blocked. Returns only if the signal does not terminate a process. */
void die_of_signal(int number);

#endif
