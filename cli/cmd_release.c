/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_release(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.owner == 0)
		return complain(o.name, "release needs --owner PID (in a script, use --owner $$)");
	status = open_for_use(&o, &sem);
	if (status >= 0)
		return status;

	int rc = tsem_release_for(sem, o.owner);
	tsem_close(sem);
	if (rc == -ENOENT)
		return complain(o.name, "process %d has no hold made by 'tsem acquire' (see 'tsem show')", (int)o.owner);
	if (rc == -ESRCH)
		return complain(o.name, "there is no process %d (what it held came back when it ended)", (int)o.owner);
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
