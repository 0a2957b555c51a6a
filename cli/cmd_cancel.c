/* SPDX-License-Identifier: MIT */
#include "by_owner.h"
#include "cmd.h"
#include "refusal.h"
#include "waiting.h"

int
cmd_cancel(const struct options *o)
{
	require_owner(o);
	tsem *sem = open_existing(o);
	int rc = o->owner == 0 ? tsem_cancel(sem) : tsem_cancel_owner(sem, (pid_t)o->owner, o->pid_ns);
	if (rc < 0 && o->owner != 0)
		die_of_named(o, sem, rc, true);
	tsem_close(sem);
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
