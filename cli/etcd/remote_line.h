/* SPDX-License-Identifier: MIT */
/* The waiting line for a semaphore on etcd. */
#ifndef TSEM_CLI_ETCD_REMOTE_LINE_H
#define TSEM_CLI_ETCD_REMOTE_LINE_H

#include "etcd/semaphore.h"
#include "waiting_line.h"

struct remote_line {
	struct waiting_line line;
	struct semaphore_on_etcd *sem;
	int64_t ticket; /* of the waiter, whose place is told; 0: none */
	struct snapshot snapshot;
	uint64_t next_ns;     /* when to renew the line, CLOCK_MONOTONIC */
	uint64_t deadline_ns; /* of -w; UINT64_MAX: none */
};

void remote_line_begin(struct remote_line *remote, struct semaphore_on_etcd *sem, const struct options *o, bool idle);

/* Renews it if it is time. */
void remote_line_renew(struct remote_line *remote);

/* When it is, or the wait ends. */
uint64_t remote_line_due(const struct remote_line *remote);

/* As waiting_line_finish(). */
void remote_line_finish(struct remote_line *remote, int error);

/* Prints why a request was not granted that has not waited. */
void remote_line_explain(struct semaphore_on_etcd *sem, const struct options *o, bool idle);

#endif
