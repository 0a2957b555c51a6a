/* SPDX-License-Identifier: MIT */
#include "etcd/etcd_verbs.h"
#include "etcd/keeper.h"
#include "message.h"
#include "refusal.h"

/* The keeper goes on when this process has ended. */
int
etcd_cmd_acquire(const struct options *o)
{
	struct keeper keeper;
	require_owner_of_hold(o, "acquire");
	keeper_prepare(&keeper, o, FOR_OWNER);
	keeper_begin(&keeper, (pid_t)o->owner);
	const int signal = keeper_wait_for_grant(&keeper);
	if (signal != 0)
		keeper_dismiss(&keeper, signal);
	if (keeper.ledger->grant.recovered && o->verbose)
		complain_of_recovery(o);
	keeper.ledger->begun = true;
	return EXIT_DONE;
}
