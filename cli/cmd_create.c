/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_create(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (!o.has_permits)
		o.permits = 1;
	if (o.max != 0 && o.max < o.permits)
		return complain(o.name, "--max %u is less than -j %u (use at least that)", o.max, o.permits);

	const struct tsem_config config = {
		.size = sizeof(config),
		.permits = o.permits,
		.max = o.max,
		.mode = o.mode,
		.flags = (o.exist_ok ? TSEM_EXIST_OK : 0) | (o.foreign ? TSEM_FOREIGN : 0),
	};
	int rc = tsem_create(o.name, &config, NULL);
	if (rc == -EEXIST && o.exist_ok)
		return complain_about_limit(&o);
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
