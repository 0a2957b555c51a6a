/* SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "waiting.h"

int
cmd_take(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status < 0)
		status = open_for_use(&o, &sem);
	if (status >= 0)
		return status;
	struct request request = {.n = 1, .sems = &sem};
	status = explain_wait(&o, &request, wait_for_permits(&o, &request));
	tsem_close(sem);
	return status;
}
