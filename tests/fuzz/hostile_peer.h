/* SPDX-License-Identifier: MIT */
/* The hostile peer: it writes to the segment through a mapping of its own, in the worst moments. */
#ifndef TSEM_FUZZ_HOSTILE_PEER_H
#define TSEM_FUZZ_HOSTILE_PEER_H

#include "layout.h"
#include "program.h"

/* Pids that the injected liveness check knows. */
enum { PID_DEAD = 1000, PID_ALIVE = 1001, PID_UNKNOWN = 1002 };

struct hostile_peer {
	unsigned char *base;
	uint32_t records; /* in the file, so that the peer itself does not die of SIGBUS */
	const struct program *program;
	_Atomic size_t next; /* the next step that writes */
	_Atomic int stop;
};

/* Runs one step, with at most `most` records in a run. A step that is an operation does nothing. */
void peer_write(struct hostile_peer *peer, const struct step *step, uint32_t most);

/* Runs the next step that writes; after the last one, the first. */
void peer_write_next(struct hostile_peer *peer, uint32_t most);

/* Runs steps until `stop`: the body of a thread. */
void *peer_write_until_stopped(void *peer);

#endif
