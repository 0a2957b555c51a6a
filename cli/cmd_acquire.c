/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "refusal.h"
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
		complain_of_recovery(o);
	if (rc == 0)
		return EXIT_DONE;
	give_back_unused(&hold);
	if (rc == -ESRCH)
		die_of_ended_process(o);
	die_error(o->name, rc);
}

int
cmd_acquire(const struct options *o)
{
	tsem_process owner;
	require_owner_of_hold(o, "acquire");
	/* Found before the wait, because another process may get the same pid during it. */
	int rc = tsem_find_process((pid_t)o->owner, &owner);
	if (rc == -ESRCH)
		die_of_no_process(o);
	if (rc < 0)
		die_error(o->name, rc);
	struct options own = *o;
	tsem *sem = open_existing(o);
	resolve_count(&own, sem);
	const int status = acquire_for(sem, &own, &owner);
	tsem_close(sem);
	return status;
}
