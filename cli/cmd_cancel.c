/* SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "waiting.h"

int
cmd_cancel(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status < 0)
		status = open_existing(&o, &sem);
	if (status >= 0)
		return status;
	int rc = tsem_cancel(sem);
	tsem_close(sem);
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
