/* SPDX-License-Identifier: MIT */
/* Segments in memory that the program provides. They have no file and no name, and do not grow. */
#include <errno.h>
#include <string.h>

#include "image.h"
#include "segment.h"

/* Two records are the least: threads may cache half of them, and one must be left (may_be_cached() in lib/records/record.c). */
static bool
is_usable(const void *memory, size_t size)
{
	return memory != NULL && (uintptr_t)memory % LINE_BYTES == 0 && size >= RECORDS_OFFSET + 2 * sizeof(struct record);
}

static void
embed(void *memory, size_t size, struct segment *segment)
{
	*segment = (struct segment){.writable = true, .embedded = true, .fd = -1};
	image_place(memory, size, segment);
}

int
segment_create_at(void *memory, size_t size, const struct segment_config *config, struct segment *segment)
{
	if (!is_usable(memory, size))
		return -EINVAL;
	memset(memory, 0, size);
	int rc = image_format(memory, size, config);
	if (rc < 0)
		return rc;
	embed(memory, size, segment);
	return 0;
}

int
segment_attach_at(void *memory, size_t size, struct segment *segment)
{
	if (!is_usable(memory, size))
		return -EINVAL;
	const struct header *header = memory;
	int rc = image_validate(header);
	if (rc < 0)
		return rc;
	/* Relaxed: the acquire in image_validate() orders it after the creator's stores. */
	if (LOAD_RLX(&header->reserved) > image_records(size))
		return -EINVAL;
	embed(memory, size, segment);
	return 0;
}
