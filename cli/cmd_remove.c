/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "config.h"

int
cmd_remove(const struct options *o)
{
	int rc = tsem_remove(o->name, (o->force ? TSEM_FORCE : 0) | (o->foreign ? TSEM_FOREIGN : 0));
	if (rc == -ENOENT)
		die(o->name, "no such semaphore (see 'tsem list')");
	/* /dev/shm is sticky, so --foreign helps only root, and no mode helps. */
	if (is_for_owner(o->name, rc))
		die_of_owner(o->name, "remove it");
	if (rc == -EOVERFLOW)
		die(o->name, "more than 2^38 permits are available (-f removes it nevertheless)");
	if (rc == -EBUSY && !o->force)
		die(o->name, "it is in use (see 'tsem show %s'; -f removes it nevertheless)", o->name);
	if (rc == -EBUSY)
		die(o->name,
		    "another process is removing it, or has a lease on its file, and makes no progress (continue or end that "
		    "process; if there is none, 'rm " SHM_PATH_PREFIX "%s')",
		    o->name);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
