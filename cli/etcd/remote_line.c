/* SPDX-License-Identifier: MIT */
#include "etcd/remote_line.h"

#include <errno.h>

#include "monotonic.h"

/* The names in the reason belong to the snapshot, so that stays until the next look. */
static void
look_at(struct remote_line *remote, size_t at, struct sight *sight)
{
	const struct waiting_line *line = &remote->line;
	struct snapshot *snapshot = &remote->snapshot;
	remote->line.at = at;
	remote->sem->name = remote->sem->store.names[at];
	snapshot_free(snapshot);
	sight->place = 0;
	sight->known = etcd_snapshot(remote->sem, snapshot) == 0;
	if (!sight->known)
		return;
	sight->stat = snapshot->stat;
	sight->reason = snapshot->reason;
	if (line->idle)
		reason_conclude_use(&sight->reason, &sight->stat);
	else
		reason_conclude(&sight->reason, &sight->stat, line->o->count);
	for (size_t i = 0; i < snapshot->n; i++) {
		if (snapshot->owners[i].position > 0 && (int64_t)snapshot->owners[i].ticket == remote->ticket)
			sight->place = snapshot->owners[i].position;
	}
}

/* Of several semaphores, whose permits come together, those of this one are not there. */
static bool
is_lacking(const struct remote_line *remote, const struct sight *sight)
{
	return sight->place > 1 || sight->stat.first_free < (int64_t)remote->line.o->count;
}

/* With --any, the line tells of the first one. */
static void
look(struct waiting_line *line, struct sight *sight)
{
	struct remote_line *remote = (struct remote_line *)line; /* its first member */
	size_t i = 0;
	look_at(remote, i, sight);
	while (!line->o->any && sight->known && !is_lacking(remote, sight) && ++i < line->n)
		look_at(remote, i, sight);
}

static void
look_back(struct waiting_line *line, bool lacked, struct sight *sight)
{
	(void)lacked;
	look(line, sight);
}

static const struct waiting_source source = {.every_ms = 1000, .look = look, .look_back = look_back};

void
remote_line_begin(struct remote_line *remote, struct semaphore_on_etcd *sem, const struct options *o, bool idle)
{
	*remote = (struct remote_line){.sem = sem, .deadline_ns = UINT64_MAX};
	if (o->has_timeout)
		remote->deadline_ns = (uint64_t)o->deadline.tv_sec * NS_PER_SECOND + (uint64_t)o->deadline.tv_nsec;
	waiting_line_begin(&remote->line, &source, sem->store.names_n, o, idle);
}

void
remote_line_renew(struct remote_line *remote)
{
	enum { RARELY_MS = 60 * 1000 };
	const uint32_t every_ms = waiting_line_every_ms(&remote->line);
	const uint64_t now = monotonic_ns();
	if (now < remote->next_ns)
		return;
	remote->next_ns = now + (every_ms > 0 ? every_ms : RARELY_MS) * NS_PER_MS;
	waiting_line_renew(&remote->line, 0);
}

uint64_t
remote_line_due(const struct remote_line *remote)
{
	return remote->deadline_ns < remote->next_ns ? remote->deadline_ns : remote->next_ns;
}

void
remote_line_finish(struct remote_line *remote, int error)
{
	waiting_line_finish(&remote->line, error);
	snapshot_free(&remote->snapshot);
}

void
remote_line_explain(struct semaphore_on_etcd *sem, const struct options *o, bool idle)
{
	struct remote_line remote = {.line = {.source = &source, .n = sem->store.names_n, .o = o, .idle = idle},
	                             .sem = sem};
	waiting_line_explain(&remote.line, -EAGAIN);
	snapshot_free(&remote.snapshot);
}
