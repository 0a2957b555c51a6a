/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "etcd/etcd_verbs.h"
#include "etcd/remote_line.h"
#include "etcd/watch.h"
#include "message.h"
#include "monotonic.h"
#include "termination.h"

/* Dies if there is no such semaphore. `revision`: of what it has seen, if the store has answered. */
static bool
is_idle(struct semaphore_on_etcd *sem, const struct options *o, int64_t *revision)
{
	struct snapshot snapshot = {.n = 0};
	const int rc = etcd_snapshot(sem, &snapshot);
	if (rc < 0 && rc != -ETIMEDOUT)
		die_of_config(sem, rc);
	if (rc == 0)
		*revision = sem->revision;
	const bool idle = rc == 0 && snapshot.stat.held == 0 && (o->holders || snapshot.stat.waiting == 0);
	snapshot_free(&snapshot);
	return idle;
}

static void
watch(struct watch *watch, const struct semaphore_on_etcd *sem, int64_t revision)
{
	static const char *const folders[] = {"config", "holders/", "waiters/", "anonymous"};
	enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };
	char keys[FOLDERS][KEY_BYTES_MAX];
	for (size_t i = 0; i < FOLDERS; i++)
		etcd_key(sem, folders[i], keys[i]);
	watch_begin(watch, sem->wire, (const char(*)[KEY_BYTES_MAX])keys, FOLDERS, revision);
}

/* 0, or a negative errno: -ETIMEDOUT, or -EINTR if a terminating signal was recorded. */
static int
wait_until_idle(struct semaphore_on_etcd *sem, const struct options *o, struct remote_line *shown)
{
	enum { PATIENCE_S = 2 };
	struct watch changes = {.call = NULL};
	int64_t revision = 0;
	int rc = 0;
	while (rc == 0 && !is_idle(sem, o, &revision)) {
		sem->patience_ns = PATIENCE_S * NS_PER_SECOND;
		watch(&changes, sem, revision);
		while (rc == 0 && !watch_tells(&changes)) {
			remote_line_renew(shown);
			wire_step(sem->wire, NULL, 0, remote_line_due(shown));
			if (termination_signal() != 0)
				rc = -EINTR;
			else if (monotonic_ns() >= shown->deadline_ns)
				rc = -ETIMEDOUT;
		}
	}
	watch_end(&changes);
	return rc;
}

static int
wait_with_line(struct semaphore_on_etcd *sem, const struct options *o)
{
	struct remote_line shown;
	struct termination termination;
	remote_line_begin(&shown, sem, o, true);
	if (shown.line.terminal) /* the line must be erased before the process dies of a signal */
		termination_defer(&termination);
	const int rc = wait_until_idle(sem, o, &shown);
	remote_line_finish(&shown, rc);
	if (shown.line.terminal)
		termination_restore(&termination);
	if (termination_signal() != 0)
		die_of_signal(termination_signal());
	return termination_signal() != 0 ? -EINTR : rc;
}

static int
try(struct semaphore_on_etcd *sem, const struct options *o)
{
	int64_t revision = 0;
	if (is_idle(sem, o, &revision))
		return 0;
	if (o->verbose)
		remote_line_explain(sem, o, true);
	return -ETIMEDOUT;
}

int
etcd_cmd_wait(const struct options *o)
{
	struct semaphore_on_etcd sem;
	etcd_open(&sem, o);
	const int rc = o->nonblock ? try(&sem, o) : wait_with_line(&sem, o);
	etcd_close(&sem);
	return rc == 0 ? EXIT_DONE : (int)o->conflict_status;
}
