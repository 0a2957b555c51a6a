/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_wait(const struct options *o)
{
	static const struct timespec past;
	tsem *sem = open_existing(o);
	const struct timespec *deadline = o->nonblock ? &past : o->has_timeout ? &o->deadline : NULL;
	int rc = tsem_wait_idle(sem, o->holders ? TSEM_HOLDERS : 0, deadline);
	tsem_close(sem);
	if (rc == -ETIMEDOUT && o->verbose)
		complain(o->name, "permits are still held%s (see 'tsem show')", o->holders ? "" : " or waited for");
	if (rc == -ETIMEDOUT)
		return (int)o->conflict_status;
	if (rc < 0)
		die_error(o->name, rc);
	return EXIT_DONE;
}
