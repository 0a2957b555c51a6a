/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "cmd.h"
#include "waiting.h"

static bool
has_access(const struct options *o)
{
	return o->mode != 0 || o->has_group;
}

/* What a caller can foresee was refused before the first change. So this names what the earlier steps have changed. */
static _Noreturn void
die_halfway(const struct options *o, bool capacity_changed, int error)
{
	const char *text = error == -EOVERFLOW
	                       ? "the counters cannot go that far (remove it with 'tsem remove -f', and create it again)"
	                       : error_text(o->name, error);
	if (!has_access(o) && !capacity_changed)
		die(o->name, "%s", text);
	die(o->name, "%s changed, but %s",
	    !capacity_changed ? "its permissions were"
	    : has_access(o)   ? "its permissions and its capacity were"
	                      : "its capacity was",
	    text);
}

static void
set_capacity(const struct options *o, tsem *sem)
{
	const int rc = tsem_set(sem, o->permits);
	if (rc < 0)
		die_halfway(o, false, rc);
}

static void
set_exact(const struct options *o, tsem *sem)
{
	const int rc = tsem_set_exact(sem, NULL);
	if (rc < 0)
		die_halfway(o, o->has_permits, rc);
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
open_to_set(const struct options *o)
{
	tsem *sem;
	const int rc = tsem_open(o->name, o->foreign ? TSEM_FOREIGN : 0, &sem);
	if (has_access(o) && is_for_owner(o->name, rc))
		die_of_access(o);
	if (rc < 0)
		die_error(o->name, rc);
	return sem;
}

static void
check_capacity(const struct options *o, tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	const int rc = tsem_stat(sem, &stat);
	if (rc < 0)
		die_error(o->name, rc);
	if (stat.max != 0 && o->permits > stat.max)
		die(o->name, "-j %" PRIu32 " is more than its maximum, %" PRIu32 " (nothing was changed)", o->permits,
		    stat.max);
}

int
cmd_set(const struct options *o)
{
	if (!o->has_permits && !o->exact && !has_access(o))
		die(o->name, "set needs -j N, --exact, -m MODE or -g GROUP (-j 0 drains it)");
	tsem *sem = open_to_set(o);
	if (o->has_permits)
		check_capacity(o, sem);
	/* First the permissions: only the kernel can tell whether this process may change them. */
	if (has_access(o))
		set_access(o, sem);
	if (o->has_permits)
		set_capacity(o, sem);
	if (o->exact)
		set_exact(o, sem);
	tsem_close(sem);
	return EXIT_DONE;
}
