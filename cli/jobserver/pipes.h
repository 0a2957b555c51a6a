/* SPDX-License-Identifier: MIT */
/*
 * The two pipes of a jobserver. Clients read tokens from one and return them into the other, so that a returned token
 * passes through this process: a waiter of the semaphore may be due before the next job.
 *
 * In the style "fifo", clients open one path, which they take for a named pipe, to read and to write. In a real named
 * pipe, a client could claim a returned token before this process sees it, and a build would keep its permits from all
 * waiters as long as it has work. So the path is that of a pseudo-terminal, which is two pipes under one name. It
 * vanishes with the last process that has it open, and leaves nothing in a directory.
 */
#ifndef TSEM_CLI_JOBSERVER_PIPES_H
#define TSEM_CLI_JOBSERVER_PIPES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

struct token_pipes {
	int offer;
	int retract;  /* reads back an offered token */
	int returned; /* becomes readable when clients return tokens */
	bool is_terminal;
	int reads;      /* of a terminal: becomes readable when a client may have claimed a token; -1: not available */
	int clients[2]; /* for reading and writing; of a terminal only the first, which keeps it open after our death */
	char auth[64];  /* names it in MAKEFLAGS */
};

enum { TOKEN_EVENTS = 2 };

/* 0, or a negative errno. Commands inherit only the clients' descriptors. */
int token_pipes_open(struct token_pipes *pipes, enum jobserver_style style);
void token_pipes_close(struct token_pipes *pipes);

bool token_is_unclaimed(const struct token_pipes *pipes);

bool token_offer(const struct token_pipes *pipes);
bool token_retract(const struct token_pipes *pipes);

/* The number of tokens returned since the last call. */
size_t token_count_returned(const struct token_pipes *pipes);

/* Called after poll() and before the state is read, so that a later change wakes the next poll(). */
void token_acknowledge_events(const struct token_pipes *pipes);

/* The events to poll for. `offered`: includes the claim of the offered token. */
void token_events(const struct token_pipes *pipes, bool offered, struct pollfd fds[TOKEN_EVENTS]);

#endif
