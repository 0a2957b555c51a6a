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

/* The library does not tell of the progress of this wait, so it is done in parts. */
static int
wait_with_line(tsem *sem, const struct options *o, const struct timespec *deadline)
{
	enum { PART_MS_MAX = 60 * 1000 };
	const unsigned flags = TSEM_INTERRUPTIBLE | (o->holders ? TSEM_HOLDERS : 0);
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
		rc = tsem_wait_idle(sem, flags, is_last ? deadline : &end);
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
try(tsem *sem, const struct options *o)
{
	static const struct timespec past;
	const int rc = tsem_wait_idle(sem, o->holders ? TSEM_HOLDERS : 0, &past);
	if (rc == -ETIMEDOUT && o->verbose)
		local_line_explain(o, &sem, 1, true, rc);
	return rc;
}

/* Jobs have ended when their processes have, so the semaphore is of no interest, and may be gone. */
static int
wait_for_jobs(const struct options *o)
{
	static const struct timespec past;
	if (!jobs_open(o->name)) {
		tsem_close(open_existing(o));
		return EXIT_DONE;
	}
	const int rc = jobs_wait(o->nonblock ? &past : o->has_timeout ? &o->deadline : NULL);
	if (rc == 0)
		return jobs_collect();
	if (rc != -ETIMEDOUT)
		die_error(o->name, rc);
	int first = 0;
	const size_t n = jobs_count_running(&first);
	if (n > 0 && !o->quiet && (o->verbose || !o->nonblock))
		complain(o->name, "%zu jobs of this session have not ended, the first is process %d", n, first);
	return (int)o->conflict_status;
}

int
cmd_wait(const struct options *o)
{
	if (o->job_status && o->holders)
		die(o->name, "--status and --holders exclude each other (use one of them)");
	if (o->job_status)
		return wait_for_jobs(o);
	tsem *sem = open_existing(o);
	const int rc = o->nonblock ? try(sem, o) : wait_with_line(sem, o, o->has_timeout ? &o->deadline : NULL);
	tsem_close(sem);
	if (rc == -ETIMEDOUT)
		return (int)o->conflict_status;
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
