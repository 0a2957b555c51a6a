/* SPDX-License-Identifier: MIT */
/* What a holder or waiter says of itself in the value of its key. */
#ifndef TSEM_CLI_ETCD_ENTRY_H
#define TSEM_CLI_ETCD_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "etcd/txn.h"
#include "options.h"

struct entry {
	json_t *json;    /* the texts are valid as long as it */
	const char *key; /* "…/holders/ID"; valid as long as the answer */
	int64_t lease;   /* its ID */
	int64_t create_revision;
	const char *host;
	const char *command;
	pid_t pid; /* of `tsem`, or of the process that `tsem acquire` acquired for */
	uid_t uid;
	uint32_t count;
	uint32_t names; /* of semaphores in its request */
	bool acquired;  /* by `tsem acquire` */
};

/* For the process `pid`, and for the one that becomes its command. */
json_t *entry_new(const struct options *o, pid_t pid, pid_t command, double since, size_t names);

/* False: it is none of tsem's, whose lease is its ID, and there is nothing to free. */
bool entry_read(const struct kv *kv, struct entry *entry);

void entry_free(struct entry *entry);

/* "…/holders/ID" has the ID of "…/held/ID". */
const char *id_of(const char *key);

/* The lease that is the ID; 0: it is none of tsem's. */
int64_t lease_of(const char *key);

/* Whether the process is one of this boot of this machine, and of this PID namespace, so that /proc shows it. */
bool entry_is_here(const struct entry *entry);

/* The same machine, boot and namespace. */
bool entry_is_beside(const struct entry *entry, const struct entry *other);

/* Whether the process that it names is `pid` of this machine. */
bool entry_is_of(const struct entry *entry, pid_t pid);

/* Whether all its processes have surely ended. */
bool entry_is_dead(const struct entry *entry);

#endif
