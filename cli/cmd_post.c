/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "refusal.h"
#include "waiting.h"

static _Noreturn void
die_of_overflow(const struct options *o, tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (tsem_stat(sem, &stat) == 0 && (stat.flags & TSEM_BOUNDED) != 0)
		die_of_bounded_post(o);
	die(o->name, "the post would exceed the maximum (nothing was posted)");
}

int
cmd_post(const struct options *o)
{
	if (o->print_previous)
		require_stdout(o->name);
	tsem *sem = open_existing(o);

	uint32_t previous;
	int rc = tsem_post(sem, o->count, &previous);
	if (rc == -EOVERFLOW)
		die_of_overflow(o, sem);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	if (o->print_previous)
		printf("%" PRIu32 "\n", previous);
	flush_result(o->name);
	return EXIT_DONE;
}
