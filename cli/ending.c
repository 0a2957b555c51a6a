/* SPDX-License-Identifier: MIT */
#include "ending.h"

#include <stddef.h>

static const int signals[ENDING_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t noted;

static void
note(int number)
{
	noted = number;
}

void
ending_begin(struct ending *ending)
{
	const struct sigaction noting = {.sa_handler = note};
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		sigaction(signals[i], NULL, &ending->old[i]);
		if (ending->old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &noting, NULL);
	}
}

void
ending_finish(const struct ending *ending)
{
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaction(signals[i], &ending->old[i], NULL);
}

int
ending_signal(void)
{
	return noted;
}

void
ending_add(sigset_t *set)
{
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
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
