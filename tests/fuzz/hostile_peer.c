/* SPDX-License-Identifier: MIT */
#include "hostile_peer.h"

#include "system/identity.h"

static struct header *
header_of(const struct hostile_peer *peer)
{
	return (struct header *)(void *)peer->base;
}

static struct record *
record_of(const struct hostile_peer *peer, uint32_t index)
{
	struct record *records = (struct record *)(void *)(peer->base + RECORDS_OFFSET);
	return &records[index % peer->records];
}

/* A few records at the beginning and at the end, and others in between if there are many. */
static uint32_t
spread(const struct hostile_peer *peer, uint32_t argument)
{
	if (argument < 16)
		return argument;
	return argument < 24 ? peer->records - 1 - (argument - 16) : argument * (peer->records / 32);
}

static void
write_word(unsigned char *base, size_t index, uint64_t value)
{
	STORE_RLX((_Atomic uint64_t *)(void *)base + index, value);
}

/* kind: bits 6 and 7 of the field; for an owner, bit 5 chooses between two. */
static uint64_t
choose_owner(unsigned field, uint64_t ticket)
{
	switch (field >> 6 & 3) {
	case 0:
		return (field & 32) != 0 ? identity_owner() : 0;
	case 1:
		return owner_process((field & 32) != 0 ? PID_ALIVE : PID_DEAD, 77);
	case 2:
		return owner_handed((field & 32) != 0 ? PID_UNKNOWN : PID_DEAD, ticket);
	default:
		return owner_orphan(ticket);
	}
}

/* `field`: the state in bits 0 to 2, the phases in 3 and 4, the owner's kind in 5 to 7. */
static void
write_record(struct hostile_peer *peer, uint32_t index, const struct step *step, int64_t offset)
{
	struct header *header = header_of(peer);
	struct record *record = record_of(peer, index);
	const uint64_t limit = counter_add(counter_value(LOAD_RLX(&header->grants)), LOAD_RLX(&header->capacity));
	const uint64_t ticket = counter_add(limit, (uint64_t)(step->distance + offset));
	const uint64_t owner = choose_owner(step->field, ticket);
	STORE_RLX(&record->count, step->count);
	STORE_RLX(&record->gen, (uint32_t)step->distance);
	STORE_RLX(&record->start, owner);
	STORE_RLX(&record->state,
	          state_next(step->field & STATE_PHASES, (enum state_kind)(step->field & STATE_KIND_MASK), ticket));
	STORE_RLX(&record->owner, owner);
}

static void
write_counter(struct hostile_peer *peer, const struct step *step)
{
	struct header *header = header_of(peer);
	const bool tickets = (step->argument & 1) != 0;
	const uint64_t other = LOAD_RLX(tickets ? &header->grants : &header->tickets);
	const uint64_t counter = counter_add(counter_value(other), (uint64_t)(int64_t)step->distance);
	const uint32_t whose = step->argument >> 2;
	const uint64_t tag = whose == 7 ? TAG_NONE : tag_make(spread(peer, whose * 4), step->argument >> 1 & 1);
	STORE_RLX(tickets ? &header->tickets : &header->grants, counter_word_make(counter, tag));
}

static void
write_slots(struct hostile_peer *peer, const struct step *step)
{
	const struct header *header = header_of(peer);
	_Atomic uint64_t *slots = (_Atomic uint64_t *)(void *)(peer->base + SLOTS_OFFSET);
	const uint64_t limit = counter_add(counter_value(LOAD_RLX(&header->grants)), LOAD_RLX(&header->capacity));
	const int64_t distance = (int16_t)(step->value >> 16);
	const uint64_t slot = counter_add(limit, (uint64_t)distance) << 16 | (step->value & 0xffff);
	for (uint32_t i = 0; i < SLOTS_MAX; i += (step->argument & 15) + 1)
		STORE_RLX(&slots[i], slot);
}

static void
write_array(struct hostile_peer *peer, const struct step *step)
{
	_Atomic uint32_t *array = (_Atomic uint32_t *)(void *)(peer->base + ARRAY_OFFSET);
	for (uint32_t i = 0; i < ARRAY_WORDS; i += step->argument + 1)
		STORE_RLX(&array[i], (uint32_t)step->value);
}

void
peer_write(struct hostile_peer *peer, const struct step *step, uint32_t most)
{
	switch (step->kind) {
	case STEP_HEADER_WORD:
		write_word(peer->base, step->argument, step->value);
		break;
	case STEP_RECORD_WORD:
		write_word((unsigned char *)record_of(peer, spread(peer, step->argument)), step->field % 8, step->value);
		break;
	case STEP_RECORD:
		write_record(peer, spread(peer, step->argument), step, 0);
		break;
	case STEP_COUNTER:
		write_counter(peer, step);
		break;
	case STEP_ARRAY:
		if ((step->argument & 16) != 0)
			write_slots(peer, step);
		else
			write_array(peer, step);
		break;
	case STEP_RECORDS:
		for (uint32_t i = 0; i < step->many % peer->records && i < most; i++)
			write_record(peer, step->argument + i, step, i);
		break;
	case STEP_OPERATION:
		break;
	}
}

void
peer_write_next(struct hostile_peer *peer, uint32_t most)
{
	const struct program *program = peer->program;
	for (size_t i = 0; i < program->n; i++) {
		const size_t at = ADD_RLX(&peer->next, 1) % program->n;
		if (program->steps[at].kind != STEP_OPERATION) {
			peer_write(peer, &program->steps[at], most);
			return;
		}
	}
}

void *
peer_write_until_stopped(void *peer)
{
	struct hostile_peer *self = peer;
	while (LOAD_RLX(&self->stop) == 0)
		peer_write_next(self, RECORDS_MAX);
	return NULL;
}
