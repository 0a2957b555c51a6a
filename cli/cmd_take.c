/* SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "waiting.h"

int
cmd_take(const struct options *o)
{
	tsem *sem = open_existing(o);
	struct request request = {.n = 1, .sems = &sem};
	const int status = status_of_wait(o, &request, wait_for_permits(o, &request));
	tsem_close(sem);
	return status;
}
