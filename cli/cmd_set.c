/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

static void
set_capacity(const struct options *o, tsem *sem)
{
	const int rc = tsem_set(sem, o->permits);
	if (rc == -EOVERFLOW)
		die(o->name, "-j %u is more than its maximum (nothing was changed)", o->permits);
	if (rc < 0)
		die_error(o->name, rc);
}

static void
set_exact(const struct options *o, tsem *sem)
{
	const int rc = tsem_set_exact(sem, NULL);
	if (rc == -EOVERFLOW)
		die(o->name, "the counters cannot go that far (remove it with 'tsem remove -f', and create it again)");
	if (rc < 0)
		die_error(o->name, rc);
}

int
cmd_set(const struct options *o)
{
	if (!o->has_permits && !o->exact)
		die(o->name, "set needs -j N or --exact (-j 0 drains it)");
	tsem *sem = open_existing(o);
	if (o->has_permits)
		set_capacity(o, sem);
	if (o->exact)
		set_exact(o, sem);
	tsem_close(sem);
	return EXIT_DONE;
}
