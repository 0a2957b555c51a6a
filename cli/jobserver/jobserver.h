/* SPDX-License-Identifier: MIT */
/*
 * A jobserver as GNU make knows it, whose tokens are permits of a semaphore. The command's own hold is make's implicit
 * slot. Each token stands for one more hold, which belongs to the command's process from before the token can be claimed.
 *
 * At most one token lies unclaimed in the pipe; as soon as it is claimed, this process waits in line for another permit. A
 * token that comes back gives its permit back to the semaphore, and so do one that nobody claims while others wait, and
 * those that are lost for certain. So the build is one participant among others, and has no more than it uses.
 */
#ifndef TSEM_CLI_JOBSERVER_H
#define TSEM_CLI_JOBSERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobserver/family.h"
#include "jobserver/pipes.h"
#include "jobserver/request.h"
#include "tsem.h"

struct jobserver {
	const char *name;
	tsem *sem;
	pid_t pid; /* of the command */
	struct token_pipes pipes;
	struct request_in_line request;
	bool refused; /* there will be no more permits */
	bool stopped; /* the command is, so it is offered nothing */

	/* What was handed over for tokens. Which of them a token is, nobody can tell: they are a stack. */
	tsem_hold *holds;
	size_t out;
	size_t room;

	bool offered; /* when we last looked */
	uint64_t offered_ms;
	uint64_t rest_ms; /* how long to rest after the next token that nobody claims */
	uint64_t ask_ms;  /* when to ask again */
	uint64_t traffic; /* tokens that were offered, claimed or returned */

	struct family family; /* when we last looked for lost tokens */
	uint64_t family_traffic;
	size_t family_jobs;
	uint64_t look_ms; /* when to look again */
};

/* Makes the pipes and announces them to the command in MAKEFLAGS. 0, or a negative errno. */
int jobserver_open(struct jobserver *jobserver, const char *name, tsem *sem, enum jobserver_style style);

/* Serves the command `pid` until it has ended; it stays a zombie. `info`: what waitid() said. */
void jobserver_serve(struct jobserver *jobserver, pid_t pid, siginfo_t *info);

/* After the command's end: gives back what its tokens stood for. `flags`: as of tsem_reap(). */
void jobserver_close(struct jobserver *jobserver, unsigned flags);

#endif
