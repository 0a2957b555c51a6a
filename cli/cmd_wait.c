/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "jobs.h"
#include "local_line.h"
#include "monotonic.h"
#include "termination.h"
#include "waiting.h"

static bool
is_earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Until the semaphore is idle, or with --status until the jobs have ended. */
static int
wait_until(tsem *sem, const struct options *o, int jobs, const struct timespec *deadline)
{
	if (o->job_status)
		return jobs_wait(jobs, deadline);
	return tsem_wait_idle(sem, TSEM_INTERRUPTIBLE | (o->holders ? TSEM_HOLDERS : 0), deadline);
}

/* The library does not tell of the progress of this wait, so it is done in parts. */
static int
wait_with_line(tsem *sem, const struct options *o, int jobs, const struct timespec *deadline)
{
	enum { PART_MS_MAX = 60 * 1000 };
	struct local_line local;
	struct termination termination;
	local_line_begin(&local, &sem, 1, o, true);
	if (local.line.terminal) /* the line must be erased before the process dies of a signal */
		termination_defer(&termination);
	const uint32_t every_ms = waiting_line_every_ms(&local.line);
	const uint64_t part_ns = (every_ms > 0 ? every_ms : PART_MS_MAX) * NS_PER_MS;
	bool is_last;
	int rc;
	do {
		const struct timespec end = to_timespec(monotonic_ns() + part_ns);
		is_last = deadline != NULL && !is_earlier(&end, deadline);
		rc = wait_until(sem, o, jobs, is_last ? deadline : &end);
		if (rc == -ETIMEDOUT && !is_last)
			local_line_renew(&local, 0);
	} while (termination_signal() == 0 && ((rc == -ETIMEDOUT && !is_last) || rc == -EINTR));
	waiting_line_finish(&local.line, termination_signal() == 0 ? rc : -EINTR);
	if (local.line.terminal)
		termination_restore(&termination);
	if (termination_signal() != 0)
		die_of_signal(termination_signal());
	return rc;
}

static int
try(tsem *sem, const struct options *o, int jobs)
{
	static const struct timespec past;
	const int rc = wait_until(sem, o, jobs, &past);
	if (rc == -ETIMEDOUT && o->verbose)
		local_line_explain(o, &sem, 1, true, rc);
	return rc;
}

int
cmd_wait(const struct options *o)
{
	if (o->job_status && o->holders)
		die(o->name, "--status and --holders exclude each other (use one of them)");
	tsem *sem = open_existing(o);
	const int jobs = o->job_status ? jobs_open(o->name) : -1;
	int rc = 0;
	if (jobs != -ENOENT)
		rc = o->nonblock ? try(sem, o, jobs) : wait_with_line(sem, o, jobs, o->has_timeout ? &o->deadline : NULL);
	tsem_close(sem);
	if (rc == -ETIMEDOUT)
		return (int)o->conflict_status;
	if (rc < 0)
		die_error(o->name, rc);
	return jobs >= 0 ? jobs_collect(jobs, o->name) : EXIT_DONE;
}
