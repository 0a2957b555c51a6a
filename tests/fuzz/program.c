/* SPDX-License-Identifier: MIT */
#include "program.h"

struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

static uint8_t
next_byte(struct reader *reader)
{
	return reader->at < reader->end ? *reader->at++ : 0;
}

static uint64_t
next_word(struct reader *reader, int bytes)
{
	uint64_t word = 0;
	for (int i = 0; i < bytes; i++)
		word |= (uint64_t)next_byte(reader) << 8 * i;
	return word;
}

/* Mostly small, sometimes as large as possible: most faults are at both ends. */
static uint32_t
next_count(struct reader *reader)
{
	const uint8_t byte = next_byte(reader);
	if (byte < 0x80)
		return byte;
	return byte < 0xc0 ? 1U << (byte & 31) : UINT32_MAX - (byte & 63U);
}

static struct step
next_step(struct reader *reader)
{
	const uint8_t first = next_byte(reader);
	struct step step = {.argument = first & 31U};
	switch (first >> 5) {
	case 0:
		step.kind = STEP_HEADER_WORD;
		step.value = next_word(reader, 8);
		break;
	case 1:
		step.kind = STEP_RECORD_WORD;
		step.field = next_byte(reader);
		step.value = next_word(reader, 8);
		break;
	case 2:
	case 5:
		step.kind = first >> 5 == 2 ? STEP_RECORD : STEP_RECORDS;
		step.field = next_byte(reader);
		step.distance = (int8_t)next_byte(reader);
		step.count = next_count(reader);
		step.many = step.kind == STEP_RECORDS ? (uint32_t)next_word(reader, 2) : 1;
		break;
	case 3:
		step.kind = STEP_COUNTER;
		step.distance = (int16_t)next_word(reader, 2);
		break;
	case 4:
		step.kind = STEP_ARRAY;
		step.value = next_word(reader, 4);
		break;
	default:
		step.kind = STEP_OPERATION;
		step.count = next_count(reader);
		break;
	}
	return step;
}

void
program_decode(const uint8_t *data, size_t size, struct program *program)
{
	struct reader reader = {.at = data, .end = data + size};
	program->flags = next_byte(&reader);
	program->n = 0;
	if ((program->flags & FLAG_IMAGE) != 0)
		return;
	while (reader.at < reader.end && program->n < STEPS_MAX)
		program->steps[program->n++] = next_step(&reader);
}
