/* SPDX-License-Identifier: MIT */
#include "etcd/etcd_verbs.h"
#include "etcd/keeper.h"
#include "message.h"

/* The keeper goes on when this process has ended. */
int
etcd_cmd_acquire(const struct options *o)
{
	struct keeper keeper;
	sigset_t mask;
	if (o->owner == 0)
		die(o->name, "acquire needs --owner PID (in a script, use --owner $$)");
	keeper_prepare(&keeper, o, FOR_OWNER, &mask);
	keeper_begin(&keeper, (pid_t)o->owner);
	const int signal = keeper_wait_for_grant(&keeper);
	if (signal != 0)
		keeper_dismiss(&keeper, signal);
	if (keeper.ledger->grant.recovered && o->verbose)
		complain(o->name, "an earlier holder died without giving its permits back (check what they protect)");
	keeper.ledger->begun = true;
	return EXIT_DONE;
}
