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

/* What is known of the owners that the options name. */
struct named {
	pid_t pid;
	uint32_t pid_ns;
	pid_t here;      /* the pid here of one of them that is alive; 0: none */
	char texts[192]; /* "--pid-ns N or --pid-ns M", as far as there is room */
};

/* The rule of tsem_recover_owner(). */
static bool
is_named(const struct named *named, const struct tsem_owner *owner)
{
	if (named->pid_ns != 0)
		return owner->pid == named->pid && owner->pid_ns == named->pid_ns;
	return (owner->pid_here != 0 ? owner->pid_here : owner->pid) == named->pid;
}

static int
add_named(const struct tsem_owner *owner, void *arg)
{
	struct named *named = arg;
	char text[32];
	if (owner->alive == TSEM_DEAD || !is_named(named, owner))
		return 0;
	if (owner->alive == TSEM_ALIVE && owner->pid_here != 0)
		named->here = owner->pid_here;
	const size_t used = strlen(named->texts);
	snprintf(text, sizeof(text), "--pid-ns %" PRIu32, owner->pid_ns);
	if (strstr(named->texts, text) == NULL)
		snprintf(named->texts + used, sizeof(named->texts) - used, "%s%s", used == 0 ? "" : " or ", text);
	return 0;
}

void
die_of_named(const struct options *o, tsem *sem, int error, const char *lacks)
{
	const int pid = (int)o->owner;
	struct named named = {.pid = pid, .pid_ns = o->pid_ns};
	tsem_owners(sem, add_named, &named);
	tsem_close(sem);
	switch (error) {
	case -ENOENT:
		die(o->name, "process %d does not %s (see 'tsem show %s')", pid, lacks, o->name);
	case -ENOTUNIQ:
		die(o->name, "%d is a process in several PID namespaces (add %s; see lsns(8))", pid, named.texts);
	case -EXDEV:
		die(o->name, "whether process %d is alive cannot be told from here (if you know that it is dead, add --force)",
		    pid);
	case -EBUSY:
		if (named.here == 0)
			die(o->name, "process %d is alive in its own PID namespace (its permits come back when it ends)", pid);
		die(o->name, "process %d is alive (end it with 'kill %d'; its permits come back then)", pid, (int)named.here);
	default:
		die_error(o->name, error);
	}
}
