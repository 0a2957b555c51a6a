/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_release(const struct options *o)
{
	if (o->owner == 0)
		die(o->name, "release needs --owner PID (in a script, use --owner $$)");
	tsem *sem = open_existing(o);

	int rc = tsem_release_for(sem, (pid_t)o->owner);
	tsem_close(sem);
	if (rc == -ENOENT)
		die(o->name, "process %d has no hold made by 'tsem acquire' (see 'tsem show %s')", (int)o->owner, o->name);
	if (rc == -ESRCH)
		die(o->name, "there is no process %d (its permits came back when it ended)", (int)o->owner);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
