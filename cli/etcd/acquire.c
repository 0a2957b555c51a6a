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
	int64_t queued; /* the create revision of the semaphore in whose line it has tried to stand; 0: none yet */
	bool granted;   /* by another process */
};

/* Dies of what no wait would change. */
static void
check_request(const struct keeping *k)
{
	const struct options *o = k->o;
	const struct config *config = &k->line.config;
	const uint32_t most = config->permits > config->capacity ? config->permits : config->capacity;
	if (o->has_permits)
		config_check_permits(config, o, o->permits);
	if (most > 0 && o->count > most)
		die(o->name, "%" PRIu32 " permits are more than there are (ask for 1 to %" PRIu32 ")", o->count, most);
}

/* With -j, it does not matter which one it is. */
static void
check_removal(const struct wait *wait)
{
	const struct options *o = wait->k->o;
	if (!o->has_permits)
		die(o->name, "it was removed during the wait (create it again)");
}

/* With -j, creates the semaphore. */
static void
create_or_die(const struct wait *wait)
{
	struct keeping *k = wait->k;
	if (k->line.config_error != -ENOENT || (!k->o->has_permits && wait->queued == 0))
		die_of_config(&k->sem, k->o, k->line.config_error);
	check_removal(wait);
	struct config config;
	if (etcd_create(&k->sem, k->o, k->o->permits, &config))
		version_warn(&k->sem);
}

/* Leaves the line. False: it has been granted the permits meanwhile. */
static bool
leave(struct wait *wait)
{
	struct keeping *k = wait->k;
	if (line_leave(&k->line))
		return true;
	wait->granted = line_look(&k->line, &k->ledger->grant) == PLACE_HOLDER;
	return !wait->granted;
}

/* If it was granted the permits, the next holder still has to learn of a death that it was told of. */
static void
leave_for_good(struct wait *wait)
{
	struct keeping *k = wait->k;
	remote_line_finish(&wait->shown, -EINTR);
	if (!leave(wait) && !k->ledger->grant.recovered)
		line_release(&k->line, &k->ledger->grant);
	watch_end(&wait->watch);
}

static _Noreturn void
give_up(struct wait *wait, int error)
{
	const struct options *o = wait->k->o;
	if (error != -EAGAIN)
		remote_line_finish(&wait->shown, error);
	else if (o->verbose)
		remote_line_explain(&wait->k->sem, o, false);
	watch_end(&wait->watch);
	exit((int)o->conflict_status);
}

/* Ends the wait if there is no process that needs it any more. */
static void
check_for_need(struct wait *wait)
{
	const struct keeping *k = wait->k;
	const bool ownerless = k->keeper->purpose == FOR_OWNER && keeper_process_has_ended(k->keeper);
	if (!k->wrapper_gone && !ownerless)
		return;
	leave_for_good(wait);
	if (!k->wrapper_gone)
		die_of_ended_process(k->o);
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
	if (strcmp(kv->key, k->holder_key) == 0)
		wait->granted = kv->create_revision > 0 && grant_read(kv, &k->ledger->grant);
}

/*
 * Each waiter is told when the one in front goes. The first one is told of all that may give it permits. A view that was
 * requested without the ticket does not show the waiter in front: by a new keeper, or after a lost answer.
 */
static void
watch(struct wait *wait, enum place place)
{
	char keys[WATCH_KEYS_MAX][KEY_BYTES_MAX];
	struct keeping *k = wait->k;
	size_t n = 0;
	etcd_key(&k->sem, "config", keys[n++]);
	line_key(&k->line, "waiters/", keys[n++]);
	if (place == PLACE_FIRST) {
		etcd_key(&k->sem, "anonymous", keys[n++]);
		etcd_key(&k->sem, "holders/", keys[n++]);
	} else {
		line_key(&k->line, "holders/", keys[n++]);
		if (k->line.predecessor_key[0] != '\0')
			snprintf(keys[n++], KEY_BYTES_MAX, "%s", k->line.predecessor_key);
		else
			etcd_key(&k->sem, "waiters/", keys[n++]);
	}
	watch_begin(&wait->watch, k->sem.wire, (const char(*)[KEY_BYTES_MAX])keys, n, k->line.revision);
}

/*
 * Waits until something has changed.
 *
 * A waiter that becomes the first one may look late: the next release grants its permits. Only permits that are already
 * free wait for its look.
 */
static void
wait_for_change(struct wait *wait, enum place place)
{
	struct keeping *k = wait->k;
	wait->shown.ticket = k->line.ticket;
	watch(wait, place);
	bool changed;
	do {
		struct curl_waitfd fds[1];
		remote_line_renew(&wait->shown);
		changed = watch_tells(&wait->watch) || k->lease.gone;
		keeping_step(k, fds, 1, changed ? 0 : remote_line_due(&wait->shown));
		check_for_end(wait);
	} while (!changed && !wait->granted);
	if (place != PLACE_FIRST)
		keeping_rest(k, &wait->granted);
}

static void
tell_loss_of_place(const struct wait *wait)
{
	const struct options *o = wait->k->o;
	if (wait->queued != 0 && !o->quiet)
		complain(o->name,
		         "the store has ended the lease, so the place in the line is lost (it waits again, at the end)");
}

/*
 * The waiter had a place, and has none any more. If its lease has not ended, a process has cancelled the wait, or deleted
 * the key by hand.
 */
static void
check_for_cancellation(struct wait *wait)
{
	struct keeping *k = wait->k;
	if (keeping_confirm(k))
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
take_permits(struct wait *wait, enum place place)
{
	struct keeping *k = wait->k;
	struct granted *grant = &k->ledger->grant;
	const bool done = place == PLACE_FIRST ? line_grant(&k->line, grant) : line_enter(&k->line, grant);
	if (!done)
		check_in_vain(wait);
	return done;
}

/* Looks, and does what is to do then. True: the permits are granted. */
static bool
step(struct wait *wait)
{
	struct keeping *k = wait->k;
	struct granted *grant = &k->ledger->grant;
	const enum place place = line_look(&k->line, grant);
	if (place == PLACE_UNKNOWN) {
		check_in_vain(wait);
		return false;
	}
	if (k->lease.gone || k->sem.lease_missing) {
		tell_loss_of_place(wait);
		keeping_renew(k);
		return false;
	}
	if (place == PLACE_HOLDER) {
		k->leased = true; /* also in a new keeper */
		return true;
	}
	if (k->line.config_error < 0) {
		create_or_die(wait);
		return false;
	}
	const int64_t incarnation = k->line.config.create_revision;
	/* Another semaphore of the same name has another line. */
	if (wait->queued != 0 && wait->queued != incarnation) {
		check_removal(wait);
		wait->queued = incarnation;
	}
	if (place != PLACE_NONE)
		wait->queued = k->ledger->line = incarnation;
	if (wait->queued == 0 && k->ledger->line != incarnation)
		check_request(k);
	if (!k->leased && !keeping_lease(k))
		return false;
	if (place == PLACE_NONE && k->ledger->line == incarnation) {
		check_for_cancellation(wait);
		return false;
	}
	k->sem.patience_ns = keeping_patience_ns(k);
	const bool in_front = place == PLACE_FIRST || (place == PLACE_NONE && !k->line.has_waiters);
	if (in_front && line_has_room(&k->line))
		return take_permits(wait, place);
	if (k->o->nonblock)
		give_up(wait, -EAGAIN);
	if (place == PLACE_NONE) {
		line_queue(&k->line);
		wait->queued = incarnation;
		if (k->line.ticket != 0)
			k->ledger->line = incarnation;
	} else {
		wait_for_change(wait, place);
	}
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
	const bool certain = !k->lease.gone && boottime_ns() < keeping_limit_ns(k);
	if (!certain)
		keeping_confirm(k);
	return certain;
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
