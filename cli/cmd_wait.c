/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "cmd.h"
#include "self_wait.h"
#include "waiting.h"

enum { SECONDS_UNTIL_PRINTED = 60 };

static const char *
still(const struct options *o)
{
	return o->holders ? "permits are still held" : "permits are still held or waited for";
}

static bool
is_earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Prints one line after a minute: a wait that is silent forever leaves nothing in a log file. */
static int
wait_until_idle(tsem *sem, const struct options *o, const struct timespec *deadline)
{
	const unsigned flags = o->holders ? TSEM_HOLDERS : 0;
	const struct timespec minute = to_timespec(monotonic_ns() + SECONDS_UNTIL_PRINTED * NS_PER_SECOND);
	if (!o->quiet && (deadline == NULL || is_earlier(&minute, deadline))) {
		int rc = tsem_wait_idle(sem, flags, &minute);
		if (rc != -ETIMEDOUT)
			return rc;
		complain(o->name, "waiting for %d s, %s (see 'tsem show')", SECONDS_UNTIL_PRINTED, still(o));
	}
	return tsem_wait_idle(sem, flags, deadline);
}

int
cmd_wait(const struct options *o)
{
	static const struct timespec past;
	tsem *sem = open_existing(o);
	if (!o->quiet && !o->nonblock)
		self_wait_report_idle(sem, o);
	int rc = wait_until_idle(sem, o, o->nonblock ? &past : o->has_timeout ? &o->deadline : NULL);
	tsem_close(sem);
	const bool expired_on_terminal = o->has_timeout && !o->quiet && isatty(STDERR_FILENO) == 1;
	if (rc == -ETIMEDOUT && (o->verbose || expired_on_terminal))
		complain(o->name, "%s (see 'tsem show')", still(o));
	if (rc == -ETIMEDOUT)
		return (int)o->conflict_status;
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
