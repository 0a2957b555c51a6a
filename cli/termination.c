/* SPDX-License-Identifier: MIT */
#include "termination.h"

#include <stddef.h>

static const int signals[TERMINATION_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t recorded;

static void
record(int number)
{
	recorded = number;
}

void
termination_defer(struct termination *termination)
{
	const struct sigaction recording = {.sa_handler = record};
	for (size_t i = 0; i < TERMINATION_SIGNALS; i++) {
		sigaction(signals[i], NULL, &termination->old[i]);
		if (termination->old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &recording, NULL);
	}
}

void
termination_restore(const struct termination *termination)
{
	for (size_t i = 0; i < TERMINATION_SIGNALS; i++)
		sigaction(signals[i], &termination->old[i], NULL);
}

int
termination_signal(void)
{
	return recorded;
}

void
termination_add(sigset_t *set)
{
	for (size_t i = 0; i < TERMINATION_SIGNALS; i++)
		sigaddset(set, signals[i]);
}

void
die_of_signal(int number)
{
	sigset_t one;
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}
