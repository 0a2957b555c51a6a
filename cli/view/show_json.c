/* SPDX-License-Identifier: MIT */
#include "view/show_json.h"

#include <errno.h>

#include "message.h"
#include "view/describe.h"
#include "view/json.h"
#include "view/statistics.h"

static json_t *
histogram_to_json(const struct tsem_stat *stat)
{
	json_t *array = json_array();
	for (unsigned i = 0; i < TSEM_HISTOGRAM_BINS; i++) {
		if (stat->histogram[i] == 0)
			continue;
		json_array_append_new(
			array, json_pack("{s:f, s:I}", "below_seconds", bin_limit(i), "waits", (json_int_t)stat->histogram[i]));
	}
	return array;
}

json_t *
statistics_to_json(const struct tsem_stat *stat)
{
	const struct wait_times times = wait_times_of(stat);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "permits_asked_for",
	                 (json_int_t)stat->ticket, "contended", (json_int_t)stat->contended, "recovered",
	                 (json_int_t)stat->recovered, "given_up", (json_int_t)stat->timeouts, "handed_over",
	                 (json_int_t)stat->handed_over, "slept", (json_int_t)times.waits, "wait_seconds",
	                 (double)stat->wait_total_ns / 1e9, "mean_wait_seconds", times.mean, "p50_wait_seconds", times.p50,
	                 "p95_wait_seconds", times.p95, "p99_wait_seconds", times.p99, "longest_wait_seconds",
	                 times.longest, "histogram", histogram_to_json(stat));
}

static json_t *
owners_to_json(const struct snapshot *snapshot, bool holders, const struct selection *keys)
{
	json_t *array = json_array();
	for (size_t i = 0; i < snapshot->n; i++) {
		const struct participant participant = snapshot_participant(snapshot, i);
		if ((participant.owner->position == 0) == holders
		    && json_array_append_new(array, participant_to_json(&participant, keys)) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

void
show_json(const char *name, const struct view_options *o, const struct snapshot *snapshot)
{
	struct selection chosen;
	columns_choose(&chosen, &show_columns, o->columns);
	const struct selection *keys = o->columns == NULL ? NULL : &chosen;
	json_t *top = semaphore_to_json(
		&(struct semaphore){name, &snapshot->stat, &snapshot->reason, snapshot->remotes != NULL}, NULL);
	int rc = json_object_set_new(top, "dead", json_integer((json_int_t)dead_of(&snapshot->stat, &snapshot->reason)));
	if (rc == 0)
		rc = json_object_set_new(top, "holders", owners_to_json(snapshot, true, keys));
	if (rc == 0)
		rc = json_object_set_new(top, "waiters", owners_to_json(snapshot, false, keys));
	if (rc == 0 && o->stats)
		rc = json_object_set_new(top, "statistics", statistics_to_json(&snapshot->stat));
	if (rc == 0)
		rc = print_json(top);
	else
		json_decref(top);
	if (rc < 0)
		die_error(name, -ENOMEM);
}
