/* SPDX-License-Identifier: MIT */
/* The keeper until it has the permits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etcd/keeping.h"
#include "etcd/remote_line.h"
#include "etcd/version.h"
#include "etcd/watch.h"
#include "message.h"
#include "monotonic.h"
#include "refusal.h"

struct wait {
	struct keeping *k;
	struct watch watch;
	struct remote_line shown;
	int64_t queued; /* the incarnation of the semaphores in whose lines it has tried to stand; 0: none yet */
	bool granted;   /* by another process */
};

/* Lets what is said and done next concern this one of several semaphores. */
static void
turn_to(struct keeping *k, const struct line *line)
{
	k->sem.name = line->name;
}

/* Finds out how many -k all are. */
static void
resolve_count(struct keeping *k)
{
	const uint32_t capacity = k->claim.lines[0].config.capacity;
	if (k->o->count != 0)
		return;
	if (capacity == 0)
		die_of_no_capacity(k->o);
	k->options.count = k->ledger->count = k->claim.lines[0].count = capacity;
}

/* Dies of what no wait would change. */
static void
check_request(struct keeping *k)
{
	const struct options *o = k->o;
	for (size_t i = 0; i < k->claim.n; i++) {
		const struct line *line = &k->claim.lines[i];
		const struct config *config = &line->config;
		const uint32_t most = config->permits > config->capacity ? config->permits : config->capacity;
		if (line->config_error < 0)
			continue;
		turn_to(k, line);
		if (o->has_permits)
			config_check_permits(&k->sem, config, o->permits);
		if (most > 0 && o->count > most)
			die(o->name, "%" PRIu32 " permits are more than there are (ask for 1 to %" PRIu32 ")", o->count, most);
	}
}

/* With -j, it does not matter which one it is. */
static void
check_removal(const struct wait *wait, const struct line *line)
{
	struct keeping *k = wait->k;
	char name[OPERAND_TEXT_MAX];
	store_operand(&k->sem.store, line->name, name);
	if (!k->o->has_permits)
		die(name, "it was removed during the wait (create it again)");
}

/* With -j, creates the semaphore. */
static void
create_or_die(const struct wait *wait, const struct line *line)
{
	struct keeping *k = wait->k;
	struct config config;
	turn_to(k, line);
	if (line->config_error != -ENOENT || (!k->o->has_permits && wait->queued == 0))
		die_of_config(&k->sem, line->config_error);
	check_removal(wait, line);
	if (etcd_create(&k->sem, k->o->permits, 0, &config))
		version_warn(&k->sem);
}

/* Leaves the lines. False: it has been granted the permits meanwhile. */
static bool
leave(struct wait *wait)
{
	struct keeping *k = wait->k;
	if (claim_leave(&k->claim))
		return true;
	wait->granted = claim_look(&k->claim, &k->ledger->grant) == PLACE_HOLDER;
	return !wait->granted;
}

/* If it was granted the permits, the next holder still has to learn of a death that it was told of. */
static void
leave_for_good(struct wait *wait, int error)
{
	struct keeping *k = wait->k;
	remote_line_finish(&wait->shown, error);
	if (!leave(wait) && !k->ledger->grant.recovered)
		claim_release(&k->claim, &k->ledger->grant);
	watch_end(&wait->watch);
}

static _Noreturn void
give_up(struct wait *wait, int error)
{
	const struct options *o = wait->k->o;
	remote_line_finish(&wait->shown, error);
	if (error == -EBUSY && o->verbose)
		complain_of_full_line(o);
	if (error == -EAGAIN && o->verbose)
		remote_line_explain(&wait->k->sem, o, false);
	watch_end(&wait->watch);
	exit((int)o->conflict_status);
}

/* Ends the wait if there is no process that needs it any more. */
static void
check_for_need(struct wait *wait)
{
	const struct keeping *k = wait->k;
	if (!k->wrapper_gone && !keeper_process_has_ended(k->keeper))
		return;
	leave_for_good(wait, -EINTR);
	if (!k->wrapper_gone && k->keeper->purpose == FOR_OWNER)
		die_of_ended_process(k->o);
	if (!k->wrapper_gone && k->keeper->purpose == FOR_COMMAND)
		die(k->o->name, "the process that was to execute the command was killed during the wait (try again)");
	exit(EXIT_DONE);
}

/* The same, or if the time is up. */
static void
check_for_end(struct wait *wait)
{
	check_for_need(wait);
	if (monotonic_ns() >= wait->shown.deadline_ns && leave(wait))
		give_up(wait, -ETIMEDOUT);
}

static void
take_grant(void *arg, const struct kv *kv)
{
	struct wait *wait = arg;
	struct keeping *k = wait->k;
	if (strcmp(kv->key, k->holder_keys[0]) != 0)
		return;
	k->ledger->grant = (struct granted){.which = 0};
	wait->granted = kv->create_revision > 0 && grant_read(kv, &k->ledger->grant);
}

/*
 * Each waiter is told when the one in front goes. The first one is told of all that may give it permits. A view that was
 * requested without the ticket does not show the waiter in front: by a new keeper, or after a lost answer.
 */
static size_t
add_keys(const struct line *line, char keys[WATCH_KEYS_MAX][KEY_BYTES_MAX], size_t n)
{
	line_key(line, "config", keys[n++]);
	line_own_key(line, "waiters/", keys[n++]);
	if (line_is_first(line)) {
		line_key(line, "anonymous", keys[n++]);
		line_key(line, "holders/", keys[n++]);
	} else {
		line_own_key(line, "holders/", keys[n++]);
		if (line->predecessor_key[0] != '\0')
			snprintf(keys[n++], KEY_BYTES_MAX, "%s", line->predecessor_key);
		else
			line_key(line, "waiters/", keys[n++]);
	}
	return n;
}

static void
watch(struct wait *wait)
{
	char keys[WATCH_KEYS_MAX][KEY_BYTES_MAX];
	struct keeping *k = wait->k;
	size_t n = 0;
	for (size_t i = 0; i < k->claim.n; i++)
		n = add_keys(&k->claim.lines[i], keys, n);
	watch_begin(&wait->watch, k->sem.wire, (const char(*)[KEY_BYTES_MAX])keys, n, k->claim.lines[0].revision);
}

static bool
is_behind_another(const struct keeping *k)
{
	return k->claim.n == 1 && !line_is_first(&k->claim.lines[0]);
}

/*
 * Waits until something has changed.
 *
 * A waiter that becomes the first one may look late: the next release grants its permits. Only permits that are already
 * free wait for its look.
 */
static void
wait_for_change(struct wait *wait)
{
	struct keeping *k = wait->k;
	wait->shown.ticket = k->claim.lines[0].ticket;
	watch(wait);
	lease_rest(&k->lease, is_behind_another(k));
	bool changed;
	do {
		struct curl_waitfd fds[1];
		remote_line_renew(&wait->shown);
		changed = watch_tells(&wait->watch) || k->lease.gone;
		keeping_step(k, fds, 1, changed ? 0 : remote_line_due(&wait->shown));
		check_for_end(wait);
	} while (!changed && !wait->granted);
	if (is_behind_another(k))
		keeping_rest(k, &wait->granted);
}

/*
 * The waiter had a place, and has none any more. If its lease has not ended, a process has cancelled the wait, or deleted
 * the key by hand.
 */
static void
check_for_cancellation(struct wait *wait)
{
	struct keeping *k = wait->k;
	if (keeping_confirm(k, wait->shown.deadline_ns))
		give_up(wait, -ECANCELED);
	check_for_end(wait);
}

/* After a request in vain: perhaps the store answers none. */
static void
check_in_vain(struct wait *wait)
{
	struct curl_waitfd fds[1];
	keeping_step(wait->k, fds, 1, 0);
	check_for_end(wait);
}

/* True: the permits are granted. */
static bool
take_permits(struct wait *wait)
{
	struct keeping *k = wait->k;
	const bool done = claim_grant(&k->claim, &k->ledger->grant);
	if (!done)
		check_in_vain(wait);
	return done;
}

/* True: all semaphores exist. Otherwise creates them, or dies. */
static bool
check_existence(struct wait *wait)
{
	struct keeping *k = wait->k;
	if (claim_first_bad(&k->claim) == NULL)
		return true;
	if (wait->queued == 0)
		check_request(k); /* of those that exist, before another one is created */
	for (size_t i = 0; i < k->claim.n; i++) {
		if (k->claim.lines[i].config_error < 0)
			create_or_die(wait, &k->claim.lines[i]);
	}
	return false;
}

/* All tickets have to be one number, so the process gives up its places in the lines of the others. */
static void
tell_of_other_lines(const struct keeping *k)
{
	const char *removed = claim_newest(&k->claim)->name;
	if (!k->o->quiet)
		complain(
			k->o->name,
			"'%s' was removed during the wait, so the places in the other lines are lost (it waits again, at the end)",
			removed);
}

/* It has been in the lines of these semaphores, or of those that had their names before. */
static void
note_lines(struct wait *wait, enum place place, int64_t incarnation)
{
	struct keeping *k = wait->k;
	/* Another semaphore of the same name has another line. */
	if (wait->queued != 0 && wait->queued != incarnation) {
		check_removal(wait, claim_newest(&k->claim));
		if (place == PLACE_PART)
			tell_of_other_lines(k);
		wait->queued = incarnation;
		k->ledger->line = 0;
	}
	if (place == PLACE_WAITER)
		wait->queued = k->ledger->line = incarnation;
	if (wait->queued == 0 && k->ledger->line != incarnation) {
		resolve_count(k);
		check_request(k);
	}
}

static bool
is_full(const struct keeping *k)
{
	return k->o->max_waiting != 0 && k->claim.lines[0].waiting >= k->o->max_waiting;
}

static void
queue(struct wait *wait, int64_t incarnation)
{
	struct keeping *k = wait->k;
	claim_queue(&k->claim);
	wait->queued = incarnation;
	if (k->claim.lines[0].ticket != 0)
		k->ledger->line = incarnation;
}

/* Looks, and does what is to do then. True: the permits are granted. */
static bool
step(struct wait *wait)
{
	struct keeping *k = wait->k;
	const enum place place = claim_look(&k->claim, &k->ledger->grant);
	if (place == PLACE_UNKNOWN) {
		check_in_vain(wait);
		return false;
	}
	if (k->lease.gone || k->sem.lease_missing) {
		keeping_renew(k);
		return false;
	}
	if (place == PLACE_HOLDER) {
		k->leased = true; /* also in a new keeper */
		return true;
	}
	if (!check_existence(wait))
		return false;
	const int64_t incarnation = claim_incarnation(&k->claim);
	note_lines(wait, place, incarnation);
	if (!k->leased && !keeping_lease(k))
		return false;
	k->sem.patience_ns = keeping_patience_ns(k);
	if (place != PLACE_WAITER && k->ledger->line == incarnation)
		check_for_cancellation(wait);
	else if (place == PLACE_PART)
		keeping_renew(k);
	else if (claim_has_turn(&k->claim))
		return take_permits(wait);
	else if (k->o->nonblock)
		give_up(wait, -EAGAIN);
	else if (place == PLACE_WAITER)
		wait_for_change(wait);
	else if (is_full(k))
		give_up(wait, -EBUSY);
	else
		queue(wait, incarnation);
	return false;
}

/*
 * A grant may be an old one if this process was stopped meanwhile: the command must not begin with a hold that is about
 * to be lost, or is lost already. False: look again.
 */
static bool
confirm(struct wait *wait)
{
	struct keeping *k = wait->k;
	check_for_need(wait);
	if (!k->lease.gone && boottime_ns() < keeping_limit_ns(k))
		return true;
	if (!keeping_confirm(k, wait->shown.deadline_ns) && monotonic_ns() >= wait->shown.deadline_ns) {
		leave_for_good(wait, -ETIMEDOUT);
		exit((int)k->o->conflict_status);
	}
	return false;
}

void
keeper_acquire(struct keeping *k)
{
	struct wait wait = {.k = k, .watch = {.event = take_grant, .arg = &wait}};
	remote_line_begin(&wait.shown, &k->sem, k->o, false);
	do {
		wait.granted = false;
		while (!wait.granted && !step(&wait))
			continue;
	} while (!confirm(&wait));
	remote_line_finish(&wait.shown, 0);
	setsid(); /* what ends the session of `tsem run` must not end this process */
	k->ledger->granted = true;
	keeping_ring(k);
	watch_end(&wait.watch);
}
