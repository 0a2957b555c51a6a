/* SPDX-License-Identifier: MIT */
/*
 * Copying a segment by reading its file. A peer may truncate the file at any time. Touching a mapped page that is gone
 * raises SIGBUS, while pread() returns fewer bytes. So no peer can harm a process that only looks.
 *
 * The copies are private to the calling thread, so every atomic access to them is relaxed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cancellation.h"
#include "file.h"
#include "image.h"
#include "segment.h"

enum {
	READ_BYTES_MAX = 64 << 20,   /* per call, which then takes about 20 ms, however often peers write */
	CONSTANT_BYTES = LINE_BYTES, /* of the header; they never change once the name is visible */
	SLOTS_BYTES = SLOTS_MAX * sizeof(uint64_t),
};

_Static_assert(offsetof(struct header, tickets) == CONSTANT_BYTES, "the constants are the first line");

/* All that changes in a segment, read once from beginning to end. */
struct reading {
	struct header *header;
	struct record *records;
	uint32_t n; /* records that the file had */
};

/* Reads at most `most` bytes. -EBADMSG: the file has fewer than `least`. */
static int
read_part(const struct segment *segment, void *to, size_t least, size_t most, size_t from)
{
	const ssize_t length = file_read(segment->fd, to, most, from);
	return length >= 0 && (size_t)length < least ? -EBADMSG : (int)length;
}

/* Reads the header first, so that its counters are older than every record. */
static int
read_once(const struct segment *segment, struct reading *reading, uint32_t room)
{
	int rc = read_part(segment, reading->header, sizeof(*reading->header), sizeof(*reading->header), 0);
	if (rc < 0)
		return rc;
	if (memcmp(reading->header, segment->header, CONSTANT_BYTES) != 0) /* a truncated file has zeros here */
		return -EBADMSG;
	rc = read_part(segment, reading->records, PAGE_BYTES, room * sizeof(struct record), RECORDS_OFFSET);
	if (rc < 0)
		return rc;
	reading->n = (uint32_t)((size_t)rc / sizeof(struct record));
	return 0;
}

/*
 * Whether nothing happened between two readings. Each reading has the counters before the records, so equal counters
 * mean that no counter moved while the records were read the first time. A record with the same owner and state in both
 * had no other owner in between, so its other words belong to that owner.
 */
static bool
are_equal(const struct reading *one, const struct reading *other)
{
	const struct header *a = one->header;
	const struct header *b = other->header;
	if (one->n != other->n || LOAD_RLX(&a->tickets) != LOAD_RLX(&b->tickets)
	    || LOAD_RLX(&a->grants) != LOAD_RLX(&b->grants) || LOAD_RLX(&a->capacity) != LOAD_RLX(&b->capacity))
		return false;
	for (uint32_t i = 0; i < one->n; i++) {
		if (LOAD_RLX(&one->records[i].owner) != LOAD_RLX(&other->records[i].owner)
		    || LOAD_RLX(&one->records[i].state) != LOAD_RLX(&other->records[i].state))
			return false;
	}
	return true;
}

/*
 * Reads until two readings in a row are equal or the budget is spent. readings[0] is the first of the two, or the last
 * one.
 */
static int
read_until_settled(const struct segment *segment, struct reading readings[2], uint32_t room, size_t *budget)
{
	const size_t cost = PAGE_BYTES + room * sizeof(struct record);
	int rc = read_once(segment, &readings[0], room);
	while (rc == 0 && *budget > 0) {
		*budget -= cost < *budget ? cost : *budget;
		rc = read_once(segment, &readings[1], room);
		if (rc < 0 || are_equal(&readings[0], &readings[1]))
			break;
		const struct reading last = readings[1];
		readings[1] = readings[0];
		readings[0] = last;
	}
	return rc;
}

/* Counts the records that the file has. */
static int
count_records(const struct segment *segment, uint32_t *records)
{
	struct stat st;
	int rc = segment_stat(segment, &st);
	if (rc < 0)
		return rc;
	if (st.st_size < (off_t)SEGMENT_BYTES_MIN)
		return -EBADMSG;
	*records = image_records(st.st_size < (off_t)SEGMENT_BYTES_MAX ? (size_t)st.st_size : SEGMENT_BYTES_MAX);
	return 0;
}

/* -EAGAIN: the file has grown since, and a new record may have an owner. */
static int
fill(const struct segment *segment, unsigned char *memory, uint32_t room, size_t *budget, struct segment *copy)
{
	unsigned char *records = memory + SLOTS_BYTES + 2 * sizeof(struct header);
	struct reading readings[2];
	uint32_t now;
	for (size_t i = 0; i < 2; i++) {
		readings[i].header = (struct header *)(void *)(memory + SLOTS_BYTES) + i;
		readings[i].records = (struct record *)(void *)records + i * room;
	}
	int rc = read_until_settled(segment, readings, room, budget);
	if (rc == 0)
		rc = read_part(segment, memory, SLOTS_BYTES, SLOTS_BYTES, SLOTS_OFFSET);
	if (rc >= 0)
		rc = count_records(segment, &now);
	if (rc < 0 || (now > room && *budget > 0))
		return rc < 0 ? rc : -EAGAIN;
	*copy = (struct segment){.header = readings[0].header, .records = readings[0].records, .embedded = true, .fd = -1};
	copy->slots = (_Atomic uint64_t *)(void *)memory;
	STORE_RLX(&copy->reserved, readings[0].n);
	return 0;
}

int
segment_copy(const struct segment *segment, struct segment *copy)
{
	NO_CANCELLATION;
	size_t budget = READ_BYTES_MAX;
	int rc;
	do {
		uint32_t room;
		rc = count_records(segment, &room);
		if (rc < 0)
			return rc;
		const size_t one = sizeof(struct header) + (size_t)room * sizeof(struct record);
		unsigned char *memory = aligned_alloc(LINE_BYTES, SLOTS_BYTES + 2 * one);
		if (memory == NULL)
			return -ENOMEM;
		rc = fill(segment, memory, room, &budget, copy);
		if (rc < 0)
			free(memory);
	} while (rc == -EAGAIN);
	return rc;
}

bool
segment_word_is(const struct segment *segment, const _Atomic uint32_t *word, uint32_t value)
{
	const bool is_copy = segment->embedded && segment->fd >= 0;
	const size_t offset = (size_t)((const char *)word - (const char *)segment->header);
	_Atomic uint32_t now;
	if (is_copy)
		return read_part(segment, &now, sizeof(now), sizeof(now), offset) >= 0 && LOAD_RLX(&now) == value;
	return LOAD_SEQ(word) == value;
}

void
segment_free_copy(struct segment *copy)
{
	free(copy->slots);
}
