/* SPDX-License-Identifier: MIT */
/* One run of a plan: its processes, and what the driver knows about the permits that each of them may have. */
#ifndef TSEM_TESTS_CRASH_RUN_H
#define TSEM_TESTS_CRASH_RUN_H

#include "run_plan.h"

struct run {
	struct fixture *fixture;
	const struct plan *plan;
	struct result *result;
	const struct operation *operation[2];
	struct tracee executor[2];
	struct tracee parent[2];
	bool killed[2];
	pid_t other;
	pid_t dead;
	pid_t bystander;
	uint32_t drained; /* taken by the driver, to be posted later */
	bool beside_drained;
	bool first_queued;        /* the first executor was in the queue when the second one began all of its operation */
	bool bystander_after_set; /* the bystander called after the only setter had ended */
	bool restored;            /* the driver has restored the capacity */
	bool abandoned;           /* a holder has died: a later hold must learn it */
	bool notified;            /* a hold of a live process has learnt it */

	/*
	 * How many more permits there are than the capacity says, because of takes without a post and posts without a take:
	 * for certain, and possibly in addition, for each executor that was killed in the middle.
	 */
	int64_t extra;
	int64_t maybe[2];
};

void run_fault(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool
run_has_failed(const struct run *run)
{
	return run->result->verdict == VERDICT_FAULT;
}

/* Whether a process dies as part of the run, so that a sleeper may have to find out by itself. */
bool plan_has_death(const struct plan *plan);

/* Whether one of the operations has one of the flags. */
bool run_has_flag(const struct run *run, unsigned flags);

/* The driver recovers what dead processes left. */
void run_recover(struct run *run);

/* The driver sets the capacity to what it was. */
void run_restore_capacity(struct run *run);

/* Starts executor `i`, and lets it run to where its operation begins. */
void run_start_executor(struct run *run, unsigned i);

/* Kills executor `i`, and notes which permits it may have. */
void run_kill(struct run *run, unsigned i);
void run_kill_parent(struct run *run, unsigned i);

/* The driver posts what it has taken. */
void run_give_back(struct run *run);

/* Lets all live processes run to their ends. They give back what they have one at a time. */
void run_settle(struct run *run);

/* Kills and reaps all processes of the run. */
void run_end(struct run *run);

/* ---- invariants.c ---- */

/*
 * Whether `available` is `expected`, or a sum that is possible because of the executors that were killed in the middle.
 * Below 0, the sum counts as 0: the capacity is below what is held.
 */
bool invariants_allow(struct run *run, int64_t available, int64_t expected);

/* The holders have no more than the capacity. Called whenever an executor has ended its operation. */
void invariants_check_admitted(struct run *run);

/* Called after recovery, while the live executors are stopped at the ends of their operations. */
void invariants_check_held(struct run *run);

/* Called after recovery, when all processes have ended, and before the driver restores the capacity. */
void invariants_check_capacity(struct run *run);

/* invariants_end.c: called after recovery, when all processes have ended. */
void invariants_check_end(struct run *run);

#endif
