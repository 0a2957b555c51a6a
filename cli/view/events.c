/* SPDX-License-Identifier: MIT */
#include "view/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monotonic.h"
#include "process.h"
#include "view/json.h"

/* One look, compared with the one before. */
struct look {
	struct watched *watched;
	const struct snapshot *snapshot;
	uint64_t now_ns;
	char time[40];
	struct seen *owners;
	size_t n;
	int error;
};

/* ---- printing ---- */

static void
set_time(struct look *look)
{
	struct timespec now;
	struct tm utc;
	look->now_ns = monotonic_ns();
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	const size_t length = strftime(look->time, sizeof(look->time), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(look->time + length, sizeof(look->time) - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/* `rest`: further keys, which this function releases. */
static void
print_event(struct look *look, const char *event, json_t *rest)
{
	json_t *line = json_pack("{s:s, s:s, s:s}", "time", look->time, "name", look->watched->name, "event", event);
	if (rest == NULL || json_object_update(line, rest) != 0
	    || (json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0 && !ferror(stdout)))
		look->error = -ENOMEM;
	else
		putchar('\n');
	json_decref(line);
	json_decref(rest);
}

/* `key`: of the time since `since_ns`, or NULL. */
static void
print_owner(struct look *look, const char *event, const struct seen *seen, const char *key, uint64_t ns)
{
	json_t *rest = json_copy(seen->about);
	const uint64_t ms = ns / NS_PER_MS;
	if (key != NULL)
		json_object_set_new(rest, key, json_real((double)ms / 1000));
	print_event(look, event, rest);
}

static json_t *
counts_to_json(const struct tsem_stat *stat)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "capacity", (json_int_t)stat->capacity, "available",
	                 (json_int_t)stat->available, "held", (json_int_t)stat->held, "waiting", (json_int_t)stat->waiting,
	                 "permits_asked_for", (json_int_t)stat->ticket, "recovered", (json_int_t)stat->recovered,
	                 "given_up", (json_int_t)stat->timeouts);
}

/* ---- looking ---- */

static const struct selection keys_of_waiter = {
	.columns = &show_columns,
	.shown = {SHOW_TICKET, SHOW_PID, SHOW_NSPID, SHOW_PIDNS, SHOW_UID, SHOW_COMMAND, SHOW_COUNT},
	.n = 7,
};

static const struct selection keys_of_holder = {
	.columns = &show_columns,
	.shown = {SHOW_TICKET, SHOW_PID, SHOW_NSPID, SHOW_PIDNS, SHOW_UID, SHOW_COMMAND, SHOW_COUNT, SHOW_SLOT},
	.n = 8,
};

/* Of a `tsem run`, the command that it runs, so that all events of one request have the same. */
static json_t *
about(const struct snapshot *snapshot, size_t i)
{
	char task[CELL_BYTES_MAX];
	const struct participant participant = snapshot_participant(snapshot, i);
	json_t *json =
		participant_to_json(&participant, participant.owner->position == 0 ? &keys_of_holder : &keys_of_waiter);
	owner_task(participant.owner, task, sizeof(task));
	json_object_set_new(json, "command", json_string(task));
	return json;
}

static void
see(struct look *look)
{
	const struct snapshot *snapshot = look->snapshot;
	look->owners = calloc(snapshot->n + 1, sizeof(*look->owners));
	if (look->owners == NULL) {
		look->error = -ENOMEM;
		return;
	}
	look->n = snapshot->n;
	for (size_t i = 0; i < look->n; i++) {
		const struct tsem_owner *owner = &snapshot->owners[i];
		look->owners[i] = (struct seen){
			.ticket = owner->ticket,
			.count = owner->count,
			.pid = owner->pid,
			.pid_here = process_number(owner),
			.index = i,
			.holds = owner->position == 0,
			.dead = owner->alive == TSEM_DEAD,
			.since_ns = look->now_ns - owner->elapsed_ns,
		};
	}
	qsort(look->owners, look->n, sizeof(*look->owners), seen_by_ticket);
}

/* ---- owners that are gone ---- */

static void
leave(struct look *look, const struct seen *before, const struct fates *fates)
{
	const uint64_t ns = look->now_ns - before->since_ns;
	if (!before->holds)
		print_owner(look, fates->waiter, before, "wait_seconds", ns);
	else
		print_owner(look, before->runs ? "released" : fates->holder, before, "hold_seconds", ns);
}

/* ---- owners that are there ---- */

static void
arrive(struct look *look, struct seen *now, bool is_first_look)
{
	now->about = about(look->snapshot, now->index);
	print_owner(look, !now->holds ? "waits" : is_first_look ? "holds" : "admitted", now, NULL, 0);
}

/*
 * The process of an owner changes when a hold is handed over, as by `tsem run` to its command, and its command line when
 * it executes that. Both come early. Of a dead process, nothing is known any more.
 */
static void
stay(struct look *look, struct seen *now)
{
	const struct seen *before = now->before;
	const bool is_young = look->now_ns - before->since_ns < NS_PER_SECOND;
	const bool same = now->holds == before->holds && now->pid == before->pid;
	now->about = now->dead || (same && !is_young) ? json_incref(before->about) : about(look->snapshot, now->index);
	/* The record tells of the admission only when the process has noticed it. */
	const uint64_t earliest = before->holds ? before->since_ns : look->watched->looked_ns;
	if (now->holds && now->since_ns < earliest)
		now->since_ns = before->holds ? earliest : look->now_ns;
	if (!now->holds || before->holds)
		return;
	print_owner(look, "admitted", now, "wait_seconds", now->since_ns - before->since_ns);
}

static void
print_there(struct look *look, bool is_first_look, bool is_last_look)
{
	for (size_t i = 0; i < look->n; i++) {
		if (look->owners[i].before != NULL)
			stay(look, &look->owners[i]);
		else if (!is_last_look) /* it may be the process that removes the semaphore */
			arrive(look, &look->owners[i], is_first_look);
	}
}

/* ---- looks ---- */

static void
forget_owners(struct watched *watched)
{
	for (size_t i = 0; i < watched->n; i++)
		json_decref(watched->owners[i].about);
	free(watched->owners);
	watched->owners = NULL;
	watched->n = 0;
}

/* Keeps what this look has found for the next one. */
static int
keep(struct look *look)
{
	forget_owners(look->watched);
	look->watched->stat = look->snapshot->stat;
	look->watched->looked_ns = look->now_ns;
	look->watched->owners = look->owners;
	look->watched->n = look->n;
	return look->error;
}

int
events_begin(struct watched *watched, const struct snapshot *snapshot)
{
	struct look look = {.watched = watched, .snapshot = snapshot};
	set_time(&look);
	see(&look);
	print_event(&look, "begin", counts_to_json(&snapshot->stat));
	print_there(&look, true, false);
	watched->unseen = 0;
	watched->reported = 0;
	return keep(&look);
}

static void
print_missed(struct look *look, int64_t unseen_before, const struct fates *fates, bool is_last)
{
	struct watched *watched = look->watched;
	const int64_t certain = is_last || unseen_before > watched->unseen ? watched->unseen : unseen_before;
	const int64_t permits = certain > watched->reported ? certain - watched->reported : 0;
	if (permits == 0 && fates->recovered == 0 && fates->given_up == 0)
		return;
	watched->reported += permits;
	print_event(look, "missed",
	            json_pack("{s:I, s:I, s:I}", "permits_asked_for", (json_int_t)permits, "recovered",
	                      (json_int_t)fates->recovered, "given_up", (json_int_t)fates->given_up));
}

/* Tickets without a process: a lower capacity draws one, and a removal, which lowers it to 0, one for each permit. */
static int64_t
drawn_by_change(const struct tsem_stat *before, const struct tsem_stat *now, bool is_last)
{
	const uint64_t permits = before->available > before->capacity ? before->available : before->capacity;
	if (is_last && now->capacity == 0)
		return permits > 0 ? (int64_t)permits : 1;
	return now->capacity < before->capacity ? 1 : 0;
}

int
events_update(struct watched *watched, const struct snapshot *snapshot, bool is_last)
{
	struct look look = {.watched = watched, .snapshot = snapshot};
	const struct tsem_stat *before = &watched->stat;
	const struct tsem_stat *now = &snapshot->stat;
	const int64_t unseen_before = watched->unseen;
	set_time(&look);
	see(&look);
	const struct changes changes = seen_compare(watched->owners, watched->n, look.owners, look.n);
	watched->unseen += (int64_t)((now->ticket - before->ticket) & TICKET_MASK) - (int64_t)changes.arrived
	                   - drawn_by_change(before, now, is_last);
	/* A removal ends waits, too, and counts them as given up. */
	const bool all_seen = watched->unseen == unseen_before && !is_last;
	const struct fates fates =
		fates_of(&changes, now->recovered - before->recovered, now->timeouts - before->timeouts, all_seen);
	if (now->capacity != before->capacity && !is_last)
		print_event(&look, "set",
		            json_pack("{s:I, s:I}", "capacity", (json_int_t)now->capacity, "capacity_before",
		                      (json_int_t)before->capacity));
	for (size_t i = 0; i < watched->n; i++) {
		if (!watched->owners[i].stays)
			leave(&look, &watched->owners[i], &fates);
	}
	print_there(&look, false, is_last);
	print_missed(&look, unseen_before, &fates, is_last);
	return keep(&look);
}

int
events_end(struct watched *watched)
{
	struct look look = {.watched = watched};
	set_time(&look);
	print_event(&look, "removed", json_object());
	forget_owners(watched);
	return look.error;
}
