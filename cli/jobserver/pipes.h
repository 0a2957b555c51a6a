/* SPDX-License-Identifier: MIT */
/*
 * The two pipes of a jobserver. Clients read tokens from one and write them back into the other, so that what comes back
 * passes through us and not from job to job: in between, others may be first in line.
 *
 * In the style "fifo" clients are told one path, of a named pipe as they believe, from which they read and to which they
 * write. In a named pipe what one client returns can be claimed by the next before we see it, and a build would keep its
 * permits as long as it has work, whoever waits. So the path is that of a pseudo-terminal, which is two pipes
 * under one name. It ends with those who have it open; nothing is left in a directory.
 */
#ifndef TSEM_CLI_JOBSERVER_PIPES_H
#define TSEM_CLI_JOBSERVER_PIPES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "jobserver/flags.h"

struct token_pipes {
	int offer;
	int retract;  /* reads back what was offered */
	int returned; /* becomes readable when tokens come back */
	bool is_terminal;
	int reads; /* of a terminal: readable when clients have read from it, and may have claimed a token; -1: nothing tells */
	int clients[2]; /* for reading and for writing; of a terminal only one, which keeps it up after our death */
	char auth[64];  /* what MAKEFLAGS says of it */
};

enum { TOKEN_EVENTS = 2 };

/* 0 or a negative errno. The clients' descriptors are passed on to commands, the others are not. */
int token_pipes_open(struct token_pipes *pipes, enum jobserver_style style);
void token_pipes_close(struct token_pipes *pipes);

/* Whether the token that was offered lies there still. */
bool token_is_unclaimed(const struct token_pipes *pipes);

bool token_offer(const struct token_pipes *pipes);
bool token_retract(const struct token_pipes *pipes);

/* How many came back since the last call. */
size_t token_count_returned(const struct token_pipes *pipes);

/* Whether any have come back since. */
bool token_is_returned(const struct token_pipes *pipes);

/* To be called after poll(), and before looking what has happened. */
void token_acknowledge_events(const struct token_pipes *pipes);

/* What to poll for; `offered`: also for the offer being claimed. */
void token_events(const struct token_pipes *pipes, bool offered, struct pollfd fds[TOKEN_EVENTS]);

#endif
