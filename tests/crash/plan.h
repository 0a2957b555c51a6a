/* SPDX-License-Identifier: MIT */
/* One point: who does what, how far, and what becomes of them. Written as text, a fault can be played again. */
#ifndef TSEM_TESTS_CRASH_PLAN_H
#define TSEM_TESTS_CRASH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operation.h"

#define TO_THE_END SIZE_MAX

enum fate {
	KILL,        /* the first one, where it stands; then the second one goes on */
	RESUME,      /* nobody is killed: both go on */
	KILL_SECOND, /* the second one, where it stands; then the first one goes on */
	KILL_PARENT, /* of the first one, which goes on */
	KILL_FAMILY, /* the first one and its parent */
	FATES
};

struct plan {
	const struct operation *first;
	const struct operation *second; /* NULL: nobody */
	uint32_t capacity;
	uint32_t count;
	bool full; /* the driver takes what is available before they begin, and gives it back when they are stuck */
	bool line; /* a third process comes, behind the first one's stop, and must be admitted in the end */
	enum fate fate;
	size_t k;          /* steps of the first one */
	bool asleep;       /* and then into a system call that waits */
	size_t j;          /* steps of the second one */
	bool second_leads; /* the second one does its steps before the first one does */
	bool early;        /* the driver gives back before the killing or going on, not after it */
	bool zombie;       /* recovered before the dead are reaped */
};

enum { PLAN_TEXT = 160 };

void plan_to_text(const struct plan *plan, char text[PLAN_TEXT]);
bool plan_from_text(const char *text, struct plan *plan);

#endif
