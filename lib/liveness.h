/* SPDX-License-Identifier: MIT */
/* The one place that judges life and death: "certainly dead" or not, and any doubt counts as alive. */
#ifndef TSEM_LIB_LIVENESS_H
#define TSEM_LIB_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

enum liveness { LIVENESS_DEAD, LIVENESS_ALIVE, LIVENESS_UNKNOWN };

/* Who is judged, as read from a record. */
struct owner {
	uint32_t pid;
	uint64_t start; /* 0: not known */
	uint32_t pid_ns;
	uint32_t time_ns;
};

/* Returns enum liveness. Async-signal-safe; errno is kept. */
int liveness_judge(const struct owner *owner);

/* readlink of /proc/self says our own pid: in a new PID namespace without a /proc of its own, /proc/1 is the host's. */
bool proc_is_trustworthy(void);

#endif
