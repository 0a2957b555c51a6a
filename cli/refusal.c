/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "names.h"

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

static void
need_one_name(const struct options *o, const char *option)
{
	if (strchr(names_in(o->name), ',') != NULL)
		die(o->name, "%s needs a single semaphore (give one name)", option);
}

static void
check_nested(const struct options *o)
{
	need_one_name(o, "--nested");
	if (o->any)
		die(o->name, "--nested and --any exclude each other (use one of them)");
	if (o->jobserver)
		die(o->name, "--nested and --jobserver exclude each other (a jobserver needs a permit of its own)");
}

static void
check_background(const struct options *o)
{
	if (!o->background)
		die(o->name, "--log needs --bg (without it, redirect the output of the command)");
	need_one_name(o, "--bg");
	if (o->no_fork)
		die(o->name, "--bg and -F exclude each other (a process has to wait for the end of the command)");
	if (o->nested)
		die(o->name, "--bg and --nested exclude each other (the holder may end before the command does)");
}

static void
check_no_fork(const struct options *o)
{
	if (o->jobserver)
		die(o->name, "-F and --jobserver exclude each other (a jobserver needs a process beside the command)");
	if (o->on_recovered != NULL)
		die(o->name, "-F and --on-recovered exclude each other (a command that ends looks like one that died)");
}

void
check_run_options(const struct options *o)
{
	if (o->nested)
		check_nested(o);
	if (o->no_fork)
		check_no_fork(o);
	if (o->background || o->log != NULL)
		check_background(o);
	if (o->max_waiting != 0)
		need_one_name(o, "--max-waiting");
}

void
die_of_no_capacity(const struct options *o)
{
	die(o->name, "-k all is no permit, because the capacity is 0 (use -k with a number, or 'tsem set -j N %s')",
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
complain_of_full_line(const struct options *o)
{
	complain(o->name, "as many wait already as --max-waiting %" PRIu32 " allows", o->max_waiting);
}

void
complain_of_recovery(const struct options *o)
{
	complain(o->name, "an earlier holder died without giving its permits back (check what they protect)");
}
