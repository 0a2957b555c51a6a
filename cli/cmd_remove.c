/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "cmd.h"

int
cmd_remove(const struct verb *verb, int argc, char **argv)
{
	struct options o;
	int status = options_parse(verb, argc, argv, &o);
	if (status >= 0)
		return status;
	int rc = tsem_remove(o.name, (o.force ? TSEM_FORCE : 0) | (o.foreign ? TSEM_FOREIGN : 0));
	if (rc == -ENOENT)
		return complain(o.name, "no such semaphore (see 'tsem list')");
	/* The directory is sticky: for those who are not root, --foreign would not help. */
	if (rc == -EPERM && geteuid() != 0)
		return complain(o.name, "it belongs to another user (only that user and root can remove it)");
	if (rc == -EOVERFLOW)
		return complain(o.name, "more than 2^38 permits are available (-f removes it all the same)");
	if (rc == -EBUSY && !o.force)
		return complain(o.name, "it is in use (see 'tsem show'; -f removes it all the same)");
	if (rc == -EBUSY)
		return complain(
			o.name,
			"another process is removing it, or has a lease on its file, and does not go on (continue or end that "
			"process; if there is none, 'rm /dev/shm/tsem.%s')",
			o.name);
	return rc < 0 ? complain_error(o.name, rc) : EXIT_DONE;
}
