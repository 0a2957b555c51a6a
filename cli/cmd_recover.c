/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_recover(const struct options *o)
{
	require_stdout(o->name);
	tsem *sem = open_for_use(o);

	uint32_t recovered;
	int rc = tsem_recover(sem, &recovered);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	printf("%" PRIu32 "\n", recovered);
	flush_result(o->name);
	return EXIT_DONE;
}
