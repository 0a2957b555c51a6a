/* SPDX-License-Identifier: MIT */
/* The hostile peer: it may write to the segment, through a mapping of its own, and does so at the worst moments. */
#ifndef TSEM_FUZZ_SCRIBBLE_H
#define TSEM_FUZZ_SCRIBBLE_H

#include "layout.h"
#include "program.h"

/* Pids that the injected judge has an opinion about. */
enum { PID_DEAD = 1000, PID_ALIVE = 1001, PID_UNKNOWN = 1002 };

struct scribbler {
	unsigned char *base;
	uint32_t records; /* that exist in the file, so that the peer itself does not die of SIGBUS */
	const struct program *program;
	_Atomic size_t next; /* step, of those that write */
	_Atomic int stop;
};

/* Does what one step says, of a run of records no more than `most`; an operation does nothing. */
void scribble(struct scribbler *scribbler, const struct step *step, uint32_t most);

/* Does the next one that writes, round and round. */
void scribble_next(struct scribbler *scribbler, uint32_t most);

/* Does so until `stop`: the body of a thread. */
void *scribble_on(void *scribbler);

#endif
