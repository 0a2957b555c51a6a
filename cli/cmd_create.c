/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_create(const struct options *o)
{
	const uint32_t permits = o->has_permits ? o->permits : 1;
	if (o->max != 0 && o->max < permits)
		die(o->name, "--max %u is less than -j %u (use at least that)", o->max, permits);
	if (o->max != 0 && o->has_available && o->available > o->max)
		die(o->name, "--available %u is more than --max %u (use at most that)", o->available, o->max);

	const struct tsem_config config = {
		.size = sizeof(config),
		.permits = permits,
		.max = o->max,
		.mode = o->mode,
		.flags = (o->exist_ok ? TSEM_EXIST_OK : 0) | (o->foreign ? TSEM_FOREIGN : 0) | (o->has_group ? TSEM_GROUP : 0)
	             | (o->has_available ? TSEM_INITIAL : 0),
		.group = o->group,
		.available = o->available,
	};
	int rc = tsem_create(o->name, &config, NULL);
	if (rc == -EEXIST && o->exist_ok)
		die_of_limit(o, permits);
	if (rc < 0)
		die_of_creation(o, rc);
	return EXIT_DONE;
}
