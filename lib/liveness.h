/* SPDX-License-Identifier: MIT */
/* The one place that judges life and death: "certainly dead" or not, and any doubt counts as alive. */
#ifndef TSEM_LIB_LIVENESS_H
#define TSEM_LIB_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum liveness { LIVENESS_DEAD, LIVENESS_ALIVE, LIVENESS_UNKNOWN };

/* Who is judged, as read from a record. */
struct process_id {
	uint32_t pid;
	uint64_t start; /* as start_since_boot() says; 0: not known */
	uint32_t pid_ns;
};

/* Returns enum liveness. Async-signal-safe; errno is kept. */
int liveness_judge(const struct process_id *owner);

/* The process is a zombie that ended by itself, not by a signal. False also if that cannot be told (any more). */
bool has_exited(pid_t pid, uint64_t start);

/*
 * /proc shows our own PID namespace: in a new one without a /proc of its own, /proc/1 is the host's. It says our own pid
 * under /proc/self, and knows no further number for us, so that the first is not equal by chance.
 */
bool proc_is_trustworthy(void);

/*
 * When the process `pid` started, as start_since_boot() says, beyond doubt; 0: cannot be told. What this process
 * remembers of its time namespace may be out of date, so the offset is read anew. It is tried on this process's own
 * start, which never changes.
 */
uint64_t start_read(const char *pid);

#endif
