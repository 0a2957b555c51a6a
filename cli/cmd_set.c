/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_set(const struct options *o)
{
	if (!o->has_permits)
		die(o->name, "set needs -j N (-j 0 drains it)");
	tsem *sem = open_existing(o);
	int rc = tsem_set(sem, o->permits);
	tsem_close(sem);
	if (rc == -EOVERFLOW)
		die(o->name, "-j %u is more than its maximum (nothing was changed)", o->permits);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
