/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

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

static void
set_access(const struct options *o, tsem *sem)
{
	struct stat st;
	const int rc = tsem_set_access(sem, o->mode, o->has_group ? o->group : (gid_t)-1);
	if (rc == -EPERM && owner_of(o->name, &st) && st.st_uid != geteuid() && geteuid() != 0)
		die_of_owner(o->name, "change its mode and its group");
	if (rc == -EPERM && o->has_group)
		die_of_group(o);
	if (rc < 0)
		die_error(o->name, rc);
}

int
cmd_set(const struct options *o)
{
	const bool has_access = o->mode != 0 || o->has_group;
	if (!o->has_permits && !o->exact && !has_access)
		die(o->name, "set needs -j N, --exact, -m MODE or -g GROUP (-j 0 drains it)");
	tsem *sem = open_existing(o);
	if (has_access)
		set_access(o, sem);
	if (o->has_permits)
		set_capacity(o, sem);
	if (o->exact)
		set_exact(o, sem);
	tsem_close(sem);
	return EXIT_DONE;
}
