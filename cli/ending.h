/* SPDX-License-Identifier: MIT */
/* Being told to end: a signal is noted, what has to be tidied up is, and then the process dies of it all the same. */
#ifndef TSEM_CLI_ENDING_H
#define TSEM_CLI_ENDING_H

#include <signal.h>

enum { ENDING_SIGNALS = 4 };

/* What the signals did before. */
struct ending {
	struct sigaction old[ENDING_SIGNALS];
};

/* From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT are noted, but for those that are ignored, as under nohup. */
void ending_begin(struct ending *ending);

/* As it was before. */
void ending_finish(const struct ending *ending);

/* The signal that was noted; 0: none so far. */
int ending_signal(void);

/* Adds the signals to the set. */
void ending_add(sigset_t *set);

/* Dies of the signal, for the parent to see, also if it is blocked; returns if it does not end a process. */
void die_of_signal(int number);

#endif
