/* SPDX-License-Identifier: MIT */
/*
 * One point: which operations run, how far, and which process is killed. A plan can be written as text, which repeats a
 * fault.
 */
#ifndef TSEM_TESTS_CRASH_PLAN_H
#define TSEM_TESTS_CRASH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operation.h"

#define TO_THE_END SIZE_MAX

enum fate {
	KILL,        /* the first executor where it is stopped; then the second one goes on */
	RESUME,      /* no process is killed: both go on */
	KILL_SECOND, /* the second executor where it is stopped; then the first one goes on */
	KILL_PARENT, /* of the first executor, which goes on */
	KILL_FAMILY, /* the first executor and its parent */
	FATES
};

struct plan {
	const struct operation *first;
	const struct operation *second; /* NULL: none */
	uint32_t capacity;
	uint32_t count;
	bool full;  /* the driver takes what is available before they begin, and gives it back when they can only wait */
	bool third; /* the bystander acquires after the first executor has stopped, and must be admitted */
	enum fate fate;
	size_t k;          /* steps of the first executor */
	bool asleep;       /* and then into a system call that waits */
	size_t j;          /* steps of the second executor */
	bool second_leads; /* the second executor takes its steps before the first one does */
	bool early;        /* the driver gives back before the fate, not after it */
	bool zombie;       /* the dead are recovered before they are reaped */
	bool contained;    /* the first executor is in another PID namespace, so that the driver knows only its lock */
};

enum { PLAN_TEXT = 160 };

void plan_to_text(const struct plan *plan, char text[PLAN_TEXT]);
bool plan_from_text(const char *text, struct plan *plan);

#endif
