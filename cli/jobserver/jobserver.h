/* SPDX-License-Identifier: MIT */
/*
 * A jobserver for GNU make whose tokens are permits of a semaphore. The command's own hold is make's implicit slot.
 * Each token stands for one more hold, which the command's process owns before the token can be claimed.
 *
 * At most one token lies unclaimed in the pipe. As soon as it is claimed, this process queues for another permit. A
 * token's permit goes back to the semaphore when the token is returned, when it stays unclaimed while the semaphore has
 * waiters, and when the command ends. So the build competes as one process, and holds no more permits than it uses;
 * only the permits of a killed client's tokens stay until the command ends.
 */
#ifndef TSEM_CLI_JOBSERVER_H
#define TSEM_CLI_JOBSERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobserver/pipes.h"
#include "jobserver/request.h"
#include "tsem.h"

struct jobserver {
	const char *name;
	tsem *sem;
	pid_t pid; /* of the command */
	struct token_pipes pipes;
	struct queued_request request;
	bool refused; /* the semaphore gives no more permits */
	bool stopped; /* the command is */

	/* The holds lent for tokens. Tokens are all alike, so any hold may end with any token: the holds are a stack. */
	tsem_hold *holds;
	size_t out;
	size_t room;

	bool offered; /* a token was unclaimed at the last check */
	uint64_t offered_ms;
	uint64_t backoff_ms; /* the pause after the next unclaimed token */
	uint64_t request_at_ms;
};

/* Makes the pipes and announces them to the command in MAKEFLAGS. 0, or a negative errno. */
int jobserver_open(struct jobserver *jobserver, const char *name, tsem *sem, enum jobserver_style style);

/* Serves the command `pid` until it ends. It stays a zombie. `info`: what waitid() reported. */
void jobserver_serve(struct jobserver *jobserver, pid_t pid, siginfo_t *info);

/* After the command's end: gives back the permits of its tokens. `flags`: as for tsem_reap(). */
void jobserver_close(struct jobserver *jobserver, unsigned flags);

#endif
