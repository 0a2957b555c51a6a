/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

/* Acquired by this process, then handed over: if this process dies in between, nothing is lost. */
static int
acquire_for(tsem *sem, const struct options *o, const tsem_process *owner)
{
	tsem_hold hold;
	struct request request = {.n = 1, .sems = &sem, .holds = &hold};
	int rc = wait_for_permits(o, &request);
	if (rc != 0)
		return explain_wait(o, &request, rc);
	const bool recovered = tsem_hold_recovered(&hold);
	tsem_hold_slot(&hold);
	rc = tsem_hand_over_to(&hold, owner);
	if (rc == 0 && recovered && o->verbose)
		complain(o->name, "a holder died before it gave its permits back (look after what they protect)");
	if (rc == 0)
		return EXIT_DONE;
	give_back_unused(&hold);
	if (rc == -ESRCH)
		return complain(o->name, "process %d ended before the permit came, which was given back (see 'tsem show')",
		                (int)o->owner);
	return complain_error(o->name, rc);
}

int
cmd_acquire(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	tsem_process owner;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.owner == 0)
		return complain(o.name, "acquire needs --owner PID (in a script, use --owner $$)");
	/* Before the wait: during it, the number may become another process's. */
	int rc = tsem_find_process(o.owner, &owner);
	if (rc == -ESRCH)
		return complain(o.name, "there is no process %d to hold for (in a script, use --owner $$)", (int)o.owner);
	if (rc < 0)
		return complain_error(o.name, rc);
	status = open_for_use(&o, &sem);
	if (status >= 0)
		return status;
	status = acquire_for(sem, &o, &owner);
	tsem_close(sem);
	return status;
}
