/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_post(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.print_previous && (status = check_stdout(o.name)) != EXIT_DONE)
		return status;
	status = open_for_use(&o, &sem);
	if (status >= 0)
		return status;

	uint32_t previous;
	int rc = tsem_post(sem, o.count, &previous);
	tsem_close(sem);
	if (rc == -EOVERFLOW)
		return complain(o.name, "more permits would be available than its maximum (nothing was posted)");
	if (rc < 0)
		return complain_error(o.name, rc);
	if (o.print_previous)
		printf("%" PRIu32 "\n", previous);
	return close_stdout_after(o.name);
}
