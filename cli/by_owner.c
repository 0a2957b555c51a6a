/* SPDX-License-Identifier: MIT */
#include "by_owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "refusal.h"

/* What is known of the owners that the options name. */
struct named_owners {
	pid_t pid;
	uint32_t pid_ns;
	bool waits_only;
	pid_t here;             /* the pid here of one of them that is alive; 0: none */
	bool holds;             /* one of them that is alive */
	uint32_t namespaces[4]; /* of the first ones */
	size_t n;
};

/* The rule of tsem_recover_owner(). */
static bool
is_named(const struct named_owners *named, const struct tsem_owner *owner)
{
	if (named->pid_ns != 0)
		return owner->pid == named->pid && owner->pid_ns == named->pid_ns;
	return (owner->pid_here != 0 ? owner->pid_here : owner->pid) == named->pid;
}

static void
add_namespace(struct named_owners *named, uint32_t pid_ns)
{
	for (size_t i = 0; i < named->n; i++) {
		if (named->namespaces[i] == pid_ns)
			return;
	}
	if (named->n < sizeof(named->namespaces) / sizeof(named->namespaces[0]))
		named->namespaces[named->n++] = pid_ns;
}

static int
add_named(const struct tsem_owner *owner, void *arg)
{
	struct named_owners *named = arg;
	if (owner->alive == TSEM_DEAD || !is_named(named, owner) || (named->waits_only && owner->position == 0))
		return 0;
	if (owner->alive == TSEM_ALIVE) {
		named->holds |= owner->position == 0;
		if (owner->pid_here != 0)
			named->here = owner->pid_here;
	}
	add_namespace(named, owner->pid_ns);
	return 0;
}

/* The command that shows which process is which. */
#define SHOW_NAMESAKES "tsem show -o STATE,NSPID,PIDNS,TIME,ALIVE"

static _Noreturn void
die_of_several(const struct options *o, const struct named_owners *named)
{
	char options[sizeof(named->namespaces) / sizeof(named->namespaces[0]) * 32] = "";
	for (size_t i = 0; i < named->n; i++)
		sprintf(options + strlen(options), "%s--pid-ns %" PRIu32, i == 0 ? "" : " or ", named->namespaces[i]);
	die(o->name, "%d is a process in several PID namespaces (add %s; see '" SHOW_NAMESAKES " %s')", (int)named->pid,
	    options, o->name);
}

void
die_of_named(const struct options *o, tsem *sem, int error, bool waits_only)
{
	const int pid = (int)o->owner;
	struct named_owners named = {.pid = pid, .pid_ns = o->pid_ns, .waits_only = waits_only};
	tsem_owners(sem, add_named, &named);
	tsem_close(sem);
	switch (error) {
	case -ENOENT:
		die_of_no_owner(o, waits_only ? "wait" : "hold or wait");
	case -ENOTUNIQ:
		die_of_several(o, &named);
	case -EXDEV:
		die_of_unknown_life(o);
	case -EBUSY:
		if (named.holds && named.here == 0)
			die(o->name, "process %d is alive in its own PID namespace (its permits come back when it ends)", pid);
		die_of_living(o, named.holds, named.here);
	default:
		die_error(o->name, error);
	}
}
