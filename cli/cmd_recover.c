/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_recover(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	status = check_stdout(o.name);
	if (status != EXIT_DONE)
		return status;
	status = open_for_use(&o, &sem);
	if (status >= 0)
		return status;

	uint32_t recovered;
	int rc = tsem_recover(sem, &recovered);
	tsem_close(sem);
	if (rc < 0)
		return complain_error(o.name, rc);
	printf("%" PRIu32 "\n", recovered);
	return close_stdout_after(o.name);
}
