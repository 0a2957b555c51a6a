/* SPDX-License-Identifier: MIT */
#include "by_owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

void
require_owner(const struct options *o)
{
	if (o->owner == 0 && (o->force || o->pid_ns != 0))
		die(o->name, "%s needs --owner PID (see 'tsem show %s' for the PID)", o->force ? "--force" : "--pid-ns",
		    o->name);
}

/* What `show` shows of the owners with the number. */
struct namesakes {
	pid_t pid;
	bool foreign;
	char texts[192]; /* " or --pid-ns N" for each namespace, as far as there is room */
};

static int
add_namesake(const struct tsem_owner *owner, void *arg)
{
	struct namesakes *namesakes = arg;
	char text[32];
	if (owner->pid != namesakes->pid || owner->alive == TSEM_DEAD)
		return 0;
	namesakes->foreign |= owner->foreign_pid;
	const size_t used = strlen(namesakes->texts);
	snprintf(text, sizeof(text), "--pid-ns %" PRIu32, owner->pid_ns);
	if (strstr(namesakes->texts, text) == NULL)
		snprintf(namesakes->texts + used, sizeof(namesakes->texts) - used, "%s%s", used == 0 ? "" : " or ", text);
	return 0;
}

void
die_of_owner(const struct options *o, tsem *sem, int error, const char *lacks)
{
	const int pid = (int)o->owner;
	struct namesakes namesakes = {.pid = pid};
	tsem_owners(sem, add_namesake, &namesakes);
	tsem_close(sem);
	switch (error) {
	case -ENOENT:
		die(o->name, "process %d does not %s (see 'tsem show %s')", pid, lacks, o->name);
	case -ENOTUNIQ:
		die(o->name, "%d is a process in several PID namespaces (add %s; see lsns(8))", pid, namesakes.texts);
	case -EXDEV:
		die(o->name, "whether process %d is alive cannot be told from here (if you know that it is dead, add --force)",
		    pid);
	case -EBUSY:
		die(o->name, "process %d is alive (end it with 'kill %d'%s; its permits come back then)", pid, pid,
		    namesakes.foreign ? " in its own PID namespace" : "");
	default:
		die_error(o->name, error);
	}
}
