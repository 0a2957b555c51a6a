/* SPDX-License-Identifier: MIT */
/* The holders and waiters on etcd that --owner names. */
#ifndef TSEM_CLI_ETCD_OWNERS_H
#define TSEM_CLI_ETCD_OWNERS_H

#include "etcd/entry.h"
#include "etcd/semaphore.h"

struct named {
	json_t *answer; /* that the keys belong to */
	struct kv *kvs;
	size_t n;
	size_t holders_n; /* the first ones */
};

/*
 * All holders and waiters; with --owner, those of that process. If processes of several machines have its number, those of
 * this machine. Dies if there are none of it, or if it does not know which machine is meant.
 */
enum owners { OWNERS_ALL, OWNERS_HOLDERS, OWNERS_WAITERS };
void owners_find(struct semaphore_on_etcd *sem, const struct options *o, enum owners which, struct named *named);

void owners_free(struct named *named);

#endif
