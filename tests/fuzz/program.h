/* SPDX-License-Identifier: MIT */
/*
 * An input, decoded. Its first byte has the flags below. With FLAG_IMAGE the rest is the content of the file, otherwise
 * it is a list of steps. The first byte of a step has the kind in its upper three bits and an argument in the lower
 * five; the bytes of the other arguments follow. Bytes beyond the end of the input are 0.
 *
 *     0  a word of the header        argument: which; 8 bytes
 *     1  a word of a record          argument: which record; field; 8 bytes
 *     2  a plausible record          argument: which record; kind and state; ticket relative to E; count
 *     3  a plausible counter         argument: T or G, phase, tag; distance from the other one
 *     4  words of the waiting array  argument: how far apart; 4 bytes
 *        or, with bit 4 of it, slots           2 bytes: record + 1; 2 bytes: ticket relative to E
 *     5  a run of records like 2     argument: which record is first; kind and state; ticket; count; how many
 *     6  an operation                argument: which; count
 *     7  an operation                the same
 */
#ifndef TSEM_FUZZ_PROGRAM_H
#define TSEM_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FLAG_IMAGE = 1,     /* the rest is the content of the file */
	FLAG_PEER = 2,      /* a thread writes all the time while the operations run */
	FLAG_REAL = 4,      /* the real clock, sleep and liveness check instead of the injected ones */
	FLAG_BIG = 0xe8,    /* all of these bits, because it takes long: room for all 32,766 records from the start */
	FLAG_READ_ONLY = 16 /* the operations get a read-only handle */
};

enum step_kind {
	STEP_HEADER_WORD,
	STEP_RECORD_WORD,
	STEP_RECORD,
	STEP_COUNTER,
	STEP_ARRAY,
	STEP_RECORDS,
	STEP_OPERATION,
};

struct step {
	enum step_kind kind;
	uint32_t argument;
	uint32_t field;
	uint32_t count;
	uint32_t many;
	int32_t distance;
	uint64_t value;
};

enum { STEPS_MAX = 64 };

struct program {
	unsigned flags;
	size_t n;
	struct step steps[STEPS_MAX];
};

void program_decode(const uint8_t *data, size_t size, struct program *program);

#endif
