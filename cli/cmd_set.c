/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_set(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (!o.has_permits)
		return complain(o.name, "set needs -j N (0 lets nobody in any more)");
	status = open_existing(&o, &sem);
	if (status >= 0)
		return status;
	int rc = tsem_set(sem, o.permits);
	tsem_close(sem);
	if (rc == -EOVERFLOW)
		return complain(o.name, "-j %u is more than its maximum (nothing was changed)", o.permits);
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
