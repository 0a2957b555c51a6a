/* SPDX-License-Identifier: MIT */
/* What an action of `tsem top` changes, noted before the question: the selection may change before the answer. */
#ifndef TSEM_CLI_TOP_TARGET_H
#define TSEM_CLI_TOP_TARGET_H

#include <stdbool.h>

#include "top/model.h"
#include "tsem.h"

enum { RESULT_SIZE = 160, PROCESS_TEXT_MAX = 64 };

struct target {
	char name[NAME_SIZE];    /* of the semaphore */
	unsigned char uuid[16];  /* of the semaphore that has the process */
	struct tsem_owner owner; /* the process; pid 0: the action is on the semaphore */
	char text[128];          /* for the question */
};

/* `owner`: NULL for the semaphore itself. */
void target_note(struct target *target, const char *name, const struct tsem_stat *stat, const struct tsem_owner *owner);

/* Finds the hold or the wait of the process again, in its present state. False: it has ended. */
bool target_find_again(tsem *sem, const struct target *target, struct tsem_owner *now);

/* Such as "process 12". */
void process_to_text(const struct tsem_owner *owner, char text[PROCESS_TEXT_MAX]);

#endif
