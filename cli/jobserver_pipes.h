/* SPDX-License-Identifier: MIT */
/*
 * The two pipes of a jobserver. Clients read tokens from one and write them back into the other, so that what comes back
 * passes through us and not from job to job: in between, others may be first in line.
 */
#ifndef TSEM_CLI_JOBSERVER_PIPES_H
#define TSEM_CLI_JOBSERVER_PIPES_H

#include <stdbool.h>
#include <stddef.h>

struct token_pipes {
	int offer;    /* becomes writable when the token that lies there is claimed */
	int retract;  /* reads it back */
	int returned; /* becomes readable when tokens come back */
	int client_read, client_write;
};

/* 0 or a negative errno. The clients' two descriptors are passed on to commands, the others are not. */
int token_pipes_open(struct token_pipes *pipes);
void token_pipes_close(struct token_pipes *pipes);

/* Whether the token that was offered lies there still. */
bool token_is_unclaimed(const struct token_pipes *pipes);

bool token_offer(const struct token_pipes *pipes);
bool token_retract(const struct token_pipes *pipes);

/* How many came back since the last call. */
size_t token_count_returned(const struct token_pipes *pipes);

#endif
