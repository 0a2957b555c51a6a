/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "background.h"
#include "local_line.h"
#include "message.h"
#include "refusal.h"
#include "termination.h"

/* ---- opening ---- */

bool
accepts_limit(const struct tsem_stat *stat, uint32_t permits)
{
	return permits == stat->permits || (permits != 0 && permits == stat->capacity);
}

void
die_of_limit(const struct options *o, uint32_t permits)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem *sem;
	int rc = tsem_open(o->name, TSEM_READ_ONLY | TSEM_FOREIGN, &sem);
	if (rc < 0)
		die_error(o->name, -EEXIST);
	rc = tsem_stat(sem, &stat);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	char accepted[96];
	if (stat.capacity == stat.permits)
		snprintf(accepted, sizeof(accepted), "use -j %" PRIu32 ", or another name", stat.permits);
	else if (stat.capacity == 0)
		snprintf(accepted, sizeof(accepted), "it is drained: use -j %" PRIu32 ", which waits", stat.permits);
	else
		snprintf(accepted, sizeof(accepted), "its capacity is %" PRIu32 " now: use -j %" PRIu32 " or -j %" PRIu32,
		         stat.capacity, stat.permits, stat.capacity);
	die(o->name,
	    "it exists with -j %" PRIu32 ", not -j %" PRIu32 " (%s; 'tsem set -j %" PRIu32
	    " %s' changes the capacity, 'tsem remove %s' lets -j create it anew)",
	    stat.permits, permits, accepted, permits, o->name, o->name);
}

void
die_of_creation(const struct options *o, int error)
{
	struct stat st;
	if (error == -EPERM && o->has_group && !owner_of(o->name, &st))
		die_of_group(o);
	die_error(o->name, error);
}

void
die_of_group(const struct options *o)
{
	die(o->name, "this user is not in group %u (use a group that 'id' prints)", (unsigned)o->group);
}

tsem *
open_existing(const struct options *o)
{
	tsem *sem;
	int rc = tsem_open(o->name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (rc < 0)
		die_error(o->name, rc);
	return sem;
}

tsem *
open_for_use(const struct options *o, bool *created)
{
	struct stat st;
	struct tsem_config config = {
		.size = sizeof(config),
		.permits = o->permits,
		.mode = o->mode,
		.flags = TSEM_BOUNDED | (o->foreign ? TSEM_FOREIGN : 0) | (o->has_group ? TSEM_GROUP : 0),
		.group = o->group,
	};
	tsem *sem;
	int rc = -EEXIST;
	*created = false;
	if (!o->has_permits && (o->mode != 0 || o->has_group))
		die(o->name, "-m and -g need -j (run creates a semaphore only with -j; 'tsem set' changes one that exists)");
	if (!o->has_permits)
		return open_existing(o);
	if (o->permits == 0)
		die(o->name, "with -j 0 nothing would ever run (use 1 or more)");
	/* Mostly it exists, which one look shows more cheaply than an attempt to create it. */
	if (!owner_of(o->name, &st))
		rc = tsem_create(o->name, &config, &sem);
	if (rc != -EEXIST) {
		*created = rc == 0;
	} else {
		config.flags |= TSEM_EXIST_OK;
		rc = tsem_create(o->name, &config, &sem);
	}
	if (rc == -EEXIST)
		die_of_limit(o, o->permits);
	if (rc < 0)
		die_of_creation(o, rc);
	return sem;
}

void
resolve_count(struct options *o, tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (o->count != 0)
		return;
	const int rc = tsem_stat(sem, &stat);
	if (rc < 0)
		die_error(o->name, rc);
	if (stat.capacity == 0)
		die_of_no_capacity(o);
	o->count = stat.capacity;
}

/* ---- the wait ---- */

static int
wait_in_queue(const struct options *o, struct request *r, const struct tsem_wait *wait)
{
	if (r->holds == NULL)
		return tsem_take_wait(r->sems[0], o->count, wait);
	if (r->n == 1)
		return tsem_acquire_wait(r->sems[0], o->count, wait, r->holds);
	if (r->any)
		return tsem_acquire_any(r->sems, r->n, wait, r->holds, &r->which);
	return tsem_acquire_all(r->sems, r->n, wait, r->holds);
}

static int
progress(void *arg, uint32_t position)
{
	background_handed_in();
	if (termination_signal() == 0)
		local_line_renew(arg, position);
	return termination_signal();
}

static int
wait_with_line(const struct options *o, struct request *request)
{
	struct local_line local;
	local_line_begin(&local, request->sems, request->n, o, false);
	const struct tsem_wait wait = {
		.size = sizeof(wait),
		.deadline = o->has_timeout ? &o->deadline : NULL,
		.flags = TSEM_INTERRUPTIBLE | (o->background ? TSEM_QUEUED : 0),
		.progress = progress,
		.arg = &local,
		.every_ms = waiting_line_every_ms(&local.line),
		.max_waiting = o->max_waiting,
	};
	const int rc = wait_in_queue(o, request, &wait);
	waiting_line_finish(&local.line, termination_signal() == 0 ? rc : -EINTR);
	return rc;
}

static int
try(const struct options *o, struct request *r)
{
	static const struct timespec past;
	static const struct tsem_wait at_once = {.size = sizeof(at_once), .deadline = &past};
	if (r->holds == NULL)
		return tsem_try_take(r->sems[0], o->count);
	return r->n == 1 ? tsem_try_acquire(r->sems[0], o->count, r->holds) : wait_in_queue(o, r, &at_once);
}

void
give_back_unused(tsem_hold *hold)
{
	tsem_reap(hold, tsem_hold_recovered(hold) ? TSEM_ABANDONED : 0);
}

static void
undo_wait(const struct options *o, const struct request *r)
{
	if (r->holds == NULL)
		tsem_post(r->sems[0], o->count, NULL);
	for (size_t i = 0; r->holds != NULL && i < granted(r); i++)
		give_back_unused(&r->holds[i]);
}

size_t
granted(const struct request *request)
{
	return request->any ? 1 : request->n;
}

int
wait_for_permits(const struct options *o, struct request *request)
{
	struct termination termination;
	/* Mostly there is nothing to wait for, so what belongs to a wait comes afterwards. */
	int rc = o->nonblock || request->n == 1 ? try(o, request) : -EAGAIN;
	if (o->nonblock || rc != -EAGAIN)
		return rc;
	/* A terminating waiter leaves the queue first, so that the other waiters need not find out that it is dead. */
	termination_defer(&termination);
	rc = wait_with_line(o, request);
	/* Before termination_signal() is read: a later signal must have its normal effect. */
	termination_restore(&termination);
	if (termination_signal() == 0)
		return rc;
	if (rc == 0)
		undo_wait(o, request);
	if (!o->background) /* which says how it has ended */
		die_of_signal(termination_signal());
	return -EINTR;
}

static _Noreturn void
die_of_count(const struct options *o, const struct request *request)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (request->n > 1 || tsem_stat(request->sems[0], &stat) != 0)
		die_error(o->name, -EINVAL);
	uint64_t most = stat.max > stat.capacity ? stat.max : stat.capacity;
	most = stat.permits > most ? stat.permits : most;
	most = stat.available > most ? stat.available : most;
	die(o->name, "%" PRIu32 " permits are more than there are (ask for 1 to %" PRIu64 ")", o->count, most);
}

int
status_of_wait(const struct options *o, const struct request *request, int error)
{
	switch (error) {
	case 0:
		return EXIT_DONE;
	case -EAGAIN:
	case -ETIMEDOUT:
	case -ECANCELED:
		/* The reason for the end of a wait has been printed with it. */
		if (o->verbose && o->nonblock)
			local_line_explain(o, request->sems, request->n, false, -EAGAIN);
		else if (o->verbose && error == -EAGAIN)
			complain_of_full_line(o);
		return (int)o->conflict_status;
	case -EINTR:
		return EXIT_SIGNAL_BASE + termination_signal();
	case -EINVAL:
		die_of_count(o, request);
	case -EOVERFLOW:
		die(o->name, "the counters cannot go that far (post or release first)");
	default:
		die_error(o->name, error);
	}
}
