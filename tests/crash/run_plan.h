/* SPDX-License-Identifier: MIT */
/* Runs one plan and checks what it leaves. */
#ifndef TSEM_TESTS_CRASH_RUN_PLAN_H
#define TSEM_TESTS_CRASH_RUN_PLAN_H

#include "fixture.h"
#include "plan.h"
#include "trace.h"

enum verdict { VERDICT_FINE, VERDICT_NOT_APPLICABLE, VERDICT_FAULT };

struct result {
	enum verdict verdict;
	bool reached;   /* the first executor got to step k as it did when its trace was made */
	bool sleeps;    /* and sleeps after it, where the plan says so */
	bool ambiguous; /* it was killed in an operation on permits without a recorded holder: */
	bool happened;  /* whether the operation had an effect */
	char fault[256];
};

/* `first` and `second`: the traces of the two operations. */
void run_plan(struct fixture *fixture, const struct plan *plan, const struct trace *first, const struct trace *second,
              struct result *result);

/* Steps through the whole first operation, kills no process, and notes each step. */
void run_plan_and_learn(struct fixture *fixture, const struct plan *plan, struct trace *trace, struct result *result);

#endif
