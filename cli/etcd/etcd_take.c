/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "etcd/etcd_verbs.h"
#include "etcd/keeper.h"
#include "message.h"
#include "termination.h"

/* A process that dies of a signal has taken nothing, so a signal that comes after the grant comes too late. */
int
etcd_cmd_take(const struct options *o)
{
	struct keeper keeper;
	struct termination termination;
	int status = EXIT_TSEM_FAILED;
	keeper_prepare(&keeper, o, TO_TAKE);
	keeper_begin(&keeper, getpid());
	termination_defer(&termination);
	const int signal = keeper_wait_for_grant(&keeper);
	if (signal != 0)
		keeper_dismiss(&keeper, signal);
	while (keeper_wait(&keeper, -1, NULL, &status) < NEWS_ENDED)
		continue;
	return status;
}
