/* SPDX-License-Identifier: MIT */
/*
 * A segment that is read and not mapped. A peer may truncate the file at any time: a process that touches a mapped page
 * which is gone dies of SIGBUS, but pread() merely returns less. So a process that only looks depends on no peer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancellation.h"
#include "image.h"
#include "read.h"
#include "segment.h"

enum {
	READ_BYTES_MAX = 64 << 20,   /* by one call, in which a peer may write all the time: some 20 ms */
	CONSTANT_BYTES = LINE_BYTES, /* of the header; they never change once the name is visible */
	SLOTS_BYTES = SLOTS_MAX * sizeof(uint64_t),
};

_Static_assert(offsetof(struct header, tickets) == CONSTANT_BYTES, "the constants are the first line");

/* One look at everything that moves. */
struct look {
	struct header *header;
	struct record *records;
	uint32_t n; /* records that the file had */
};

/* At least `least` bytes, or the file is damaged; at most `most`. */
static int
read_part(const struct segment *segment, void *to, size_t least, size_t most, size_t from)
{
	const ssize_t length = read_from(segment->fd, to, most, from);
	return length >= 0 && (size_t)length < least ? -EBADMSG : (int)length;
}

/* The header first, so that what it says of the counters is older than any record. */
static int
look(const struct segment *segment, struct look *look, uint32_t room)
{
	int rc = read_part(segment, look->header, sizeof(*look->header), sizeof(*look->header), 0);
	if (rc < 0)
		return rc;
	if (memcmp(look->header, segment->header, CONSTANT_BYTES) != 0) /* zeros, where the file was cut */
		return -EBADMSG;
	rc = read_part(segment, look->records, PAGE_BYTES, room * sizeof(struct record), RECORDS_OFFSET);
	if (rc < 0)
		return rc;
	look->n = (uint32_t)((size_t)rc / sizeof(struct record));
	return 0;
}

/*
 * Whether nothing happened from the one look to the other. The counters are read before the records of each, so if they
 * are the same the records are those of one instant. A record whose owner and state are the same had no other owner
 * meanwhile, and its other words belong to that owner.
 */
static bool
are_alike(const struct look *one, const struct look *other)
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

/* Until two looks in a row are alike: looks[0] is the first of them, or, where no two ever are, the last look. */
static int
look_until_it_settles(const struct segment *segment, struct look looks[2], uint32_t room, size_t *budget)
{
	const size_t cost = PAGE_BYTES + room * sizeof(struct record);
	int rc = look(segment, &looks[0], room);
	while (rc == 0 && *budget > 0) {
		*budget -= cost < *budget ? cost : *budget;
		rc = look(segment, &looks[1], room);
		if (rc < 0 || are_alike(&looks[0], &looks[1]))
			break;
		const struct look last = looks[1];
		looks[1] = looks[0];
		looks[0] = last;
	}
	return rc;
}

/* How many records the file has. */
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

/* -EAGAIN: the file has grown meanwhile, and there may be an owner in a record that it did not have before. */
static int
fill(const struct segment *segment, unsigned char *memory, uint32_t room, size_t *budget, struct segment *copy)
{
	unsigned char *records = memory + SLOTS_BYTES + 2 * sizeof(struct header);
	struct look looks[2];
	uint32_t now;
	for (size_t i = 0; i < 2; i++) {
		looks[i].header = (struct header *)(void *)(memory + SLOTS_BYTES) + i;
		looks[i].records = (struct record *)(void *)records + i * room;
	}
	int rc = look_until_it_settles(segment, looks, room, budget);
	if (rc == 0)
		rc = read_part(segment, memory, SLOTS_BYTES, SLOTS_BYTES, SLOTS_OFFSET);
	if (rc >= 0)
		rc = count_records(segment, &now);
	if (rc < 0 || (now > room && *budget > 0))
		return rc < 0 ? rc : -EAGAIN;
	*copy = (struct segment){.header = looks[0].header, .records = looks[0].records, .embedded = true, .fd = -1};
	copy->slots = (_Atomic uint64_t *)(void *)memory;
	STORE_RLX(&copy->reserved, looks[0].n);
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

void
segment_free_copy(struct segment *copy)
{
	free(copy->slots);
}
