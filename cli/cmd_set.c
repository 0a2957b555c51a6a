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

static _Noreturn void
die_of_access(const struct options *o)
{
	die_of_owner(o->name, "change its mode and its group");
}

static void
set_access(const struct options *o, tsem *sem)
{
	const int rc = tsem_set_access(sem, o->mode, o->has_group ? o->group : (gid_t)-1);
	if (is_for_owner(o->name, rc))
		die_of_access(o);
	if (rc == -EPERM && o->has_group)
		die_of_group(o);
	if (rc < 0)
		die_error(o->name, rc);
}

/* Neither --foreign nor another mode lets another user change the mode. */
static tsem *
open_to_set(const struct options *o, bool has_access)
{
	tsem *sem;
	const int rc = tsem_open(o->name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (has_access && is_for_owner(o->name, rc))
		die_of_access(o);
	if (rc < 0)
		die_error(o->name, rc);
	return sem;
}

int
cmd_set(const struct options *o)
{
	const bool has_access = o->mode != 0 || o->has_group;
	if (!o->has_permits && !o->exact && !has_access)
		die(o->name, "set needs -j N, --exact, -m MODE or -g GROUP (-j 0 drains it)");
	tsem *sem = open_to_set(o, has_access);
	if (has_access)
		set_access(o, sem);
	if (o->has_permits)
		set_capacity(o, sem);
	if (o->exact)
		set_exact(o, sem);
	tsem_close(sem);
	return EXIT_DONE;
}
