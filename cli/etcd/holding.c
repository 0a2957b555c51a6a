/* SPDX-License-Identifier: MIT */
/* The keeper from when it has the permits until it has given them back. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "etcd/keeping.h"
#include "etcd/watch.h"
#include "message.h"
#include "monotonic.h"

/*
 * Without contact, the command gets its signal when a quarter of the lifetime of the lease is left, and SIGKILL when a
 * tenth is left: before the store can give its permits to another process.
 */
enum { LEFT_AT_KILL = 10, GRACE_PERCENT = 15 };

struct holding {
	struct keeping *k;
	uint64_t lost_ns; /* when the command got its signal, CLOCK_BOOTTIME; 0: not yet */
	bool killed;
	struct watch watch;  /* of the key of a hold of `tsem acquire` */
	bool examined;       /* why that is missing is known */
	bool released;       /* by `tsem release` */
	uint64_t foresee_ns; /* when to look at what the release needs, CLOCK_MONOTONIC; UINT64_MAX: not any more */
	uint64_t ended_ns;   /* when the command was seen to have ended, CLOCK_MONOTONIC; 0: not yet */
};

/* ---- loss ---- */

/* The key of a hold of `tsem acquire` is missing: perhaps by a release. */
static bool
is_unexplained(const struct holding *hold)
{
	return hold->k->lease.keyless && hold->k->keeper->purpose == FOR_OWNER && !hold->examined;
}

/* From now on, because the store may have forgotten older revisions; what has changed before is found by a look then. */
static void
watch_key(struct holding *hold)
{
	struct keeping *k = hold->k;
	if (k->keeper->purpose != FOR_OWNER)
		return;
	watch_begin(&hold->watch, k->sem.wire, k->lease.keys, 1, WATCH_FROM_NOW);
	if (watch_tells(&hold->watch))
		k->lease.next_ns = 0;
}

/* A release also deletes the key in held/, and leaves the semaphore. */
static void
explain(struct holding *hold)
{
	struct keeping *k = hold->k;
	const struct line *line = &k->claim.lines[0];
	struct granted grant;
	if (!is_unexplained(hold))
		return;
	const int64_t incarnation = line->config.create_revision;
	const enum place place = claim_look(&k->claim, &grant);
	const bool same = line->config_error == 0 && (incarnation == 0 || line->config.create_revision == incarnation);
	hold->examined = place != PLACE_UNKNOWN;
	hold->released = place == PLACE_NONE && same && !line_is_noted(line);
}

/* When the command is to get its signal. */
static uint64_t
loss_of(const struct holding *hold)
{
	return hold->k->lease.gone && !is_unexplained(hold) ? 0 : keeping_limit_ns(hold->k);
}

/* When it is to get SIGKILL. A keeper may have sent the signal late, or may have replaced another keeper. */
static uint64_t
kill_of(const struct holding *hold)
{
	const struct lease *lease = &hold->k->lease;
	const uint64_t graceful = hold->lost_ns + lease->ttl_ns / 100 * GRACE_PERCENT;
	const uint64_t last = lease->valid_until_ns - lease->ttl_ns / LEFT_AT_KILL;
	return lease->gone || graceful < last ? graceful : last;
}

static void
send_signal(const struct holding *hold, int number)
{
	const struct keeping *k = hold->k;
	if (syscall(SYS_pidfd_send_signal, k->keeper->process, number, NULL, 0U) != 0 && errno != ESRCH)
		k->ledger->stop_error = errno;
	keeping_ring(k);
}

static void
lose(struct holding *hold, uint64_t now)
{
	const struct keeping *k = hold->k;
	const int action = k->o->on_lost;
	hold->lost_ns = now;
	if (k->ledger->lost == LOSS_NONE) {
		snprintf(k->ledger->refusal, sizeof(k->ledger->refusal), "%s", wire_error(k->sem.wire));
		k->ledger->lost = k->lease.gone ? LOSS_ENDED : k->lease.refused ? LOSS_REFUSED : LOSS_SILENCE;
		keeping_ring(k);
	}
	if (action != LOST_IGNORE)
		send_signal(hold, action == LOST_STOP ? SIGTERM : action);
	k->ledger->signalled = true;
}

static void
set_timer(const struct holding *hold, uint64_t at_ns)
{
	const struct itimerspec at = {.it_value = to_timespec(at_ns)};
	timerfd_settime(hold->k->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Does what is due, and sets the timer for what comes next. */
static void
enforce(struct holding *hold)
{
	const uint64_t now = boottime_ns();
	if (hold->lost_ns == 0 && now >= loss_of(hold))
		lose(hold, now);
	if (hold->lost_ns == 0) {
		set_timer(hold, loss_of(hold));
	} else if (hold->k->o->on_lost == LOST_STOP && !hold->killed) {
		hold->killed = now >= kill_of(hold);
		set_timer(hold, hold->killed ? 0 : kill_of(hold));
		if (hold->killed)
			send_signal(hold, SIGKILL);
	}
}

/* ---- the command ---- */

/* The hold is lost for good, and its owner needs no signal any more. */
static bool
is_lost_for_good(const struct holding *hold)
{
	const struct keeping *k = hold->k;
	return k->lease.gone && hold->lost_ns != 0 && (k->o->on_lost != LOST_STOP || hold->killed);
}

/* The owner has ended, or the hold; or `tsem acquire` has been killed before it could report the hold. */
static bool
is_over_for_owner(const struct holding *hold)
{
	const struct keeping *k = hold->k;
	const bool ended = hold->ended_ns != 0 || hold->released || is_lost_for_good(hold);
	return ended || (k->wrapper_gone && !k->ledger->begun);
}

/* The command has ended, and `tsem run`, which says how, has ended, too, or is silent. */
static bool
is_over(const struct holding *hold)
{
	enum { PATIENCE_S = 5 };
	const struct keeping *k = hold->k;
	if (keeper_is_for_owner(k->keeper))
		return is_over_for_owner(hold);
	if (k->ledger->end != END_NONE)
		return true;
	return hold->ended_ns != 0 && (k->wrapper_gone || monotonic_ns() >= hold->ended_ns + PATIENCE_S * NS_PER_SECOND);
}

static void
wait_for_events(struct holding *hold)
{
	struct keeping *k = hold->k;
	const bool runs = hold->ended_ns == 0;
	struct curl_waitfd fds[] = {
		{.fd = -1},
		{.fd = hold->k->timer, .events = CURL_WAIT_POLLIN},
		{.fd = k->keeper->process, .events = CURL_WAIT_POLLIN},
	};
	uint64_t expirations;
	const uint64_t second = monotonic_ns() + NS_PER_SECOND;
	keeping_step(k, fds, runs ? 3 : 2, second < hold->foresee_ns ? second : hold->foresee_ns);
	if (runs && fds[2].revents != 0)
		hold->ended_ns = monotonic_ns();
	(void)!read(hold->k->timer, &expirations, sizeof(expirations));
}

/* Not in the time that may be needed to stop the command. */
static void
foresee(struct holding *hold)
{
	struct keeping *k = hold->k;
	if (monotonic_ns() < hold->foresee_ns)
		return;
	hold->foresee_ns = UINT64_MAX;
	if (boottime_ns() + keeping_patience_ns(k) < loss_of(hold))
		claim_foresee(&k->claim);
}

void
keeper_hold(struct keeping *k)
{
	const bool for_owner = keeper_is_for_owner(k->keeper);
	struct holding hold = {
		.k = k,
		.foresee_ns = for_owner ? UINT64_MAX : monotonic_ns() + REST_MS * NS_PER_MS,
	};
	if (k->ledger->signalled) /* by the previous keeper */
		hold.lost_ns = boottime_ns();
	else if (k->ledger->lost != LOSS_NONE) /* which was killed before it could */
		lose(&hold, boottime_ns());
	keeping_detach();
	while (!is_over(&hold)) {
		enforce(&hold);
		foresee(&hold);
		watch_key(&hold);
		wait_for_events(&hold);
		explain(&hold);
	}
	watch_end(&hold.watch);
}

/* ---- the end ---- */

/*
 * The next holder learns of a command that has died of a signal because its key in held/ stays. It also stays if this
 * process was told of an earlier one, and its own command was not executed.
 */
static bool
give_back(struct keeping *k)
{
	const bool unused = k->ledger->end == END_UNUSED || !k->ledger->begun;
	const bool in_order = k->ledger->end == END_EXITED || (unused && !k->ledger->grant.recovered);
	if (in_order)
		return claim_release(&k->claim, &k->ledger->grant);
	k->leased = lease_revoke(&k->lease, monotonic_ns() + k->sem.patience_ns) != OUTCOME_DONE;
	return !k->leased;
}

/* This process may outlive `tsem run` a little, and must not keep its file system busy. */
static void
leave_file_system(void)
{
	(void)!chdir("/");
}

/* `tsem run` waits for the permits to come back, but not long. */
void
keeper_release(struct keeping *k)
{
	enum { PATIENCE_S = 5 };
	const uint64_t late = monotonic_ns() + PATIENCE_S * NS_PER_SECOND;
	bool done;
	bool valid;
	do {
		done = give_back(k);
		valid = boottime_ns() < k->lease.valid_until_ns;
		const bool is_late = monotonic_ns() >= late;
		k->lease.gone = k->lease.gone || is_late; /* it is not kept alive any longer */
		if (done || !valid || is_late) {
			leave_file_system();
			k->ledger->released = done ? RELEASE_DONE : RELEASE_LATE;
			keeping_ring(k);
		}
	} while (!done && valid && wire_pause(k->sem.wire, UINT64_MAX));
	keeping_rest(k, NULL);
}
