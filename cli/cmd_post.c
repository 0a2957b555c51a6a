/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_post(const struct options *o)
{
	if (o->print_previous)
		require_stdout(o->name);
	tsem *sem = open_for_use(o);

	uint32_t previous;
	int rc = tsem_post(sem, o->count, &previous);
	tsem_close(sem);
	if (rc == -EOVERFLOW)
		die(o->name, "the post would exceed the maximum (nothing was posted)");
	if (rc < 0)
		die_error(o->name, rc);
	if (o->print_previous)
		printf("%" PRIu32 "\n", previous);
	flush_result(o->name);
	return EXIT_DONE;
}
