/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

/* This process acquires and then hands over, so that the permits come back if it dies in between. */
static int
acquire_for(tsem *sem, const struct options *o, const tsem_process *owner)
{
	tsem_hold hold;
	struct request request = {.n = 1, .sems = &sem, .holds = &hold};
	int rc = wait_for_permits(o, &request);
	if (rc != 0)
		return status_of_wait(o, &request, rc);
	const bool recovered = tsem_hold_recovered(&hold);
	tsem_hold_slot(&hold);
	rc = tsem_hand_over_to(&hold, owner);
	if (rc == 0 && recovered && o->verbose)
		complain(o->name, "an earlier holder died without giving its permits back (check what they protect)");
	if (rc == 0)
		return EXIT_DONE;
	give_back_unused(&hold);
	if (rc == -ESRCH)
		die(o->name, "process %d ended before its permits were granted (they were given back, see 'tsem show %s')",
		    (int)o->owner, o->name);
	die_error(o->name, rc);
}

int
cmd_acquire(const struct options *o)
{
	tsem_process owner;
	if (o->owner == 0)
		die(o->name, "acquire needs --owner PID (in a script, use --owner $$)");
	/* Found before the wait, because another process may get the same pid during it. */
	int rc = tsem_find_process((pid_t)o->owner, &owner);
	if (rc == -ESRCH)
		die(o->name, "there is no process %d to hold for (in a script, use --owner $$)", (int)o->owner);
	if (rc < 0)
		die_error(o->name, rc);
	struct options own = *o;
	tsem *sem = open_existing(o);
	resolve_count(&own, sem);
	const int status = acquire_for(sem, &own, &owner);
	tsem_close(sem);
	return status;
}
