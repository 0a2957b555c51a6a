/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "refusal.h"
#include "waiting.h"

int
cmd_release(const struct options *o)
{
	require_owner_of_hold(o, "release");
	tsem *sem = open_existing(o);

	int rc = tsem_release_for(sem, (pid_t)o->owner);
	tsem_close(sem);
	if (rc == -ENOENT)
		die_of_no_hold(o);
	if (rc == -ESRCH)
		die_of_ended_holder(o);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
