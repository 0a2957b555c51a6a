/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd.h"
#include "config.h"

static _Noreturn void
die_of_removal(const struct options *o, int error)
{
	/* /dev/shm is sticky, so --foreign helps only root, and no mode helps. */
	if (is_for_owner(o->name, error))
		die_of_owner(o->name, "remove it");
	if (error == -EOVERFLOW)
		die(o->name, "more than 2^38 permits are available (-f removes it nevertheless)");
	if (error == -EBUSY && !o->force)
		die(o->name, "it is in use (see 'tsem show %s'; -f removes it nevertheless)", o->name);
	if (error == -EBUSY)
		die(o->name,
		    "another process is removing it, or has a lease on its file, and makes no progress (continue or end that "
		    "process; if there is none, 'rm " SHM_PATH_PREFIX "%s')",
		    o->name);
	die_error(o->name, error);
}

static int
try_to_remove(const struct options *o, const char *name)
{
	const int rc = tsem_remove(name, (o->force ? TSEM_FORCE : 0) | (o->foreign ? TSEM_FOREIGN : 0));
	if (rc == 0 && o->idle)
		printf("%s\n", name);
	return rc == -EBUSY && o->idle ? 0 : rc;
}

struct removal {
	const struct options *o;
	int status;
};

/* Passes over what other users own and what another process has just removed, and reports what is damaged. */
static int
remove_if_idle(const char *name, void *arg)
{
	struct stat st;
	struct removal *removal = arg;
	const bool may_be_removed = owner_of(name, &st) && S_ISREG(st.st_mode)
	                            && (st.st_uid == geteuid() || (removal->o->foreign && geteuid() == 0));
	const int rc = may_be_removed ? try_to_remove(removal->o, name) : 0;
	if (rc == 0 || rc == -ENOENT || rc == -EIDRM)
		return 0;
	complain_error(name, rc);
	removal->status = EXIT_TSEM_FAILED;
	return 0;
}

int
cmd_remove(const struct options *o)
{
	struct removal removal = {o, EXIT_DONE};
	if (o->idle)
		require_stdout(o->name);
	const int rc = o->name == NULL ? tsem_list(remove_if_idle, &removal) : try_to_remove(o, o->name);
	if (rc < 0)
		die_of_removal(o, rc);
	if (o->idle)
		flush_result(o->name);
	return removal.status;
}
