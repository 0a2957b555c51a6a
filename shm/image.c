/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

uint32_t
image_records(size_t bytes)
{
	const size_t records = (bytes - RECORDS_OFFSET) / sizeof(struct record);
	return records < RECORDS_MAX ? (uint32_t)records : RECORDS_MAX;
}

/* As if the permits that are not available had been taken, and those beyond `permits` posted. */
static void
set_counters(struct header *header, const struct segment_config *config)
{
	const uint64_t permits = config->permits;
	const uint64_t available = config->has_available ? config->available : permits;
	const uint64_t tickets = available < permits ? permits - available : 0;
	const uint64_t grants = available > permits ? available - permits : 0;
	STORE_RLX(&header->tickets, counter_word_make(tickets, TAG_NONE));
	STORE_RLX(&header->grants, counter_word_make(grants, TAG_NONE));
	STORE_RLX(&header->capacity, config->permits);
}

/* RFC 9562, version 4. */
static int
set_uuid(unsigned char uuid[16])
{
	int rc = random_fill(uuid, 16);
	uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
	return rc;
}

int
image_format(struct header *header, size_t bytes, const struct segment_config *config)
{
	int rc = set_uuid(header->uuid);
	if (rc < 0)
		return rc;
	header->created = (int64_t)time(NULL);
	header->uid = geteuid();
	header->permits = config->permits;
	header->max = config->max;
	header->bounded = config->bounded;
	/* Relaxed: no process reads these words before it sees `magic`. */
	set_counters(header, config);
	STORE_RLX(&header->reserved, image_records(bytes));
	STORE_RLX(&header->fingerprint, LAYOUT_FINGERPRINT);
	STORE_RLX(&header->version, LAYOUT_VERSION);
	/* Release: pairs with the acquire in image_validate(). */
	STORE_REL(&header->magic, LAYOUT_MAGIC);
	return 0;
}

int
image_validate(const struct header *header)
{
	/* Acquire: the loads after it see what the creator stored before `magic`. */
	if (LOAD_ACQ(&header->magic) != LAYOUT_MAGIC)
		return -EBADMSG;
	if (LOAD_RLX(&header->version) != LAYOUT_VERSION || LOAD_RLX(&header->fingerprint) != LAYOUT_FINGERPRINT)
		return -EPROTONOSUPPORT;
	return 0;
}

void
image_place(void *base, size_t bytes, struct segment *segment)
{
	unsigned char *memory = base;
	segment->header = base;
	segment->array = (_Atomic uint32_t *)(void *)(memory + ARRAY_OFFSET);
	segment->slots = (_Atomic uint64_t *)(void *)(memory + SLOTS_OFFSET);
	segment->records = (struct record *)(void *)(memory + RECORDS_OFFSET);
	/* Relaxed: no other thread has this segment yet. */
	STORE_RLX(&segment->reserved, image_records(bytes));
}
