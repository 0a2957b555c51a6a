/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cmd.h"
#include "waiting.h"

int
cmd_wait(const struct verb *verb, int argc, char **argv)
{
	static const struct timespec past;
	struct options o;
	tsem *sem;
	int status = options_parse(verb, argc, argv, &o);
	if (status < 0)
		status = open_existing(&o, &sem);
	if (status >= 0)
		return status;
	const struct timespec *deadline = o.nonblock ? &past : o.has_timeout ? &o.deadline : NULL;
	int rc = tsem_wait_idle(sem, o.holders ? TSEM_HOLDERS : 0, deadline);
	tsem_close(sem);
	if (rc == -ETIMEDOUT && o.verbose)
		complain(o.name, "somebody still %s (see 'tsem show')", o.holders ? "holds" : "holds or waits");
	if (rc == -ETIMEDOUT)
		return o.conflict_status;
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
