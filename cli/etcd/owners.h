/* SPDX-License-Identifier: MIT */
/* The holders and waiters on etcd, or those that --owner names. */
#ifndef TSEM_CLI_ETCD_OWNERS_H
#define TSEM_CLI_ETCD_OWNERS_H

#include "etcd/entry.h"
#include "etcd/semaphore.h"

struct owners {
	json_t *answer; /* that the keys belong to */
	struct config config;
	struct entry *entries;
	size_t n;
	size_t holders_n; /* the first ones */
};

enum which_owners { OWNERS_ALL, OWNERS_HOLDERS, OWNERS_WAITERS };

/*
 * Finds all of them; with --owner, those of that process. If processes of several machines have its number, those of this
 * machine. Dies if there are none of it, or if it does not know which machine is meant. Of a semaphore that -j has not
 * created yet, there are none.
 */
void owners_find(struct semaphore_on_etcd *sem, const struct options *o, enum which_owners which,
                 struct owners *owners);

void owners_free(struct owners *owners);

#endif
