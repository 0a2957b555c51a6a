/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "by_owner.h"
#include "cmd.h"
#include "reason.h"
#include "refusal.h"
#include "waiting.h"

static int
recover(const struct options *o, tsem *sem, uint32_t *recovered)
{
	if (o->owner == 0)
		return tsem_recover(sem, recovered);
	int rc = tsem_recover_owner(sem, (pid_t)o->owner, o->pid_ns, o->force ? TSEM_FORCE : 0, recovered);
	if (rc < 0)
		die_of_named(o, sem, rc, false);
	return rc;
}

int
cmd_recover(const struct options *o)
{
	require_owner(o);
	require_stdout(o->name);
	tsem *sem = open_existing(o);

	uint32_t recovered;
	char unknown[REASON_BYTES_MAX] = "";
	int rc = recover(o, sem, &recovered);
	if (rc == 0 && recovered == 0 && o->owner == 0)
		reason_of_unknown(sem, o->name, unknown);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	if (unknown[0] != '\0')
		complain(o->name, "%s", unknown);
	printf("%" PRIu32 "\n", recovered);
	flush_result(o->name);
	return EXIT_DONE;
}
