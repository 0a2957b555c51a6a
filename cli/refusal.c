/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"

void
require_owner_of_hold(const struct options *o, const char *verb)
{
	if (o->owner == 0)
		die(o->name, "%s needs --owner PID (in a script, use --owner $$)", verb);
}

void
require_owner(const struct options *o)
{
	if (o->owner == 0 && (o->force || o->pid_ns != 0))
		die(o->name, "%s needs --owner PID (see 'tsem show %s' for the PID)", o->force ? "--force" : "--pid-ns",
		    o->name);
}

void
die_of_bounded_post(const struct options *o)
{
	die(o->name, "the post would exceed the limit: it can give back what 'tsem take' has taken, and no more (nothing "
	             "was posted; "
	             "'tsem set -j' changes the limit)");
}

void
die_of_no_process(const struct options *o)
{
	die(o->name, "there is no process %d to hold for (in a script, use --owner $$)", (int)o->owner);
}

void
die_of_ended_process(const struct options *o)
{
	die(o->name, "process %d ended before its permits were granted (they were given back, see 'tsem show %s')",
	    (int)o->owner, o->name);
}

void
die_of_ended_holder(const struct options *o)
{
	die(o->name, "there is no process %d (its permits came back when it ended)", (int)o->owner);
}

void
die_of_no_hold(const struct options *o)
{
	die(o->name, "process %d has no hold made by 'tsem acquire' (see 'tsem show %s')", (int)o->owner, o->name);
}

void
die_of_no_owner(const struct options *o, const char *what)
{
	die(o->name, "process %d does not %s (see 'tsem show %s')", (int)o->owner, what, o->name);
}

void
die_of_unknown_life(const struct options *o)
{
	die(o->name, "whether process %d is alive cannot be told from here (if you know that it is dead, add --force)",
	    (int)o->owner);
}

void
die_of_living(const struct options *o, bool holds, pid_t here)
{
	const int pid = (int)o->owner;
	char option[32] = "";
	if (o->pid_ns != 0)
		snprintf(option, sizeof(option), "--pid-ns %" PRIu32 " ", o->pid_ns);
	if (!holds)
		die(o->name, "process %d is alive (end its wait with 'tsem cancel --owner %d %s%s')", pid, pid, option,
		    o->name);
	die(o->name, "process %d is alive (end it with 'kill %d'; its permits come back then)", pid, (int)here);
}

void
complain_of_recovery(const struct options *o)
{
	complain(o->name, "an earlier holder died without giving its permits back (check what they protect)");
}
