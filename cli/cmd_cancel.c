/* SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "waiting.h"

int
cmd_cancel(const struct options *o)
{
	tsem *sem = open_existing(o);
	int rc = tsem_cancel(sem);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
