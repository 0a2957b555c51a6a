/* SPDX-License-Identifier: MIT */
#include "etcd/keeping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"

enum { BEATS = 20 /* in the lifetime of the lease */, PATIENCE_S = 5, REVOKE_S = 2 };

static struct keeping keeping;

uint64_t
keeping_patience_ns(const struct keeping *k)
{
	enum { PARTS = 8, MOST_S = 2 };
	const uint64_t part = k->o->ttl_s * NS_PER_SECOND / PARTS;
	return part < MOST_S * NS_PER_SECOND ? part : MOST_S * NS_PER_SECOND;
}

uint64_t
keeping_limit_ns(const struct keeping *k)
{
	enum { LEFT = 4 };
	const uint64_t quarter = k->lease.ttl_ns / LEFT;
	return k->lease.valid_until_ns > quarter ? k->lease.valid_until_ns - quarter : 0;
}

void
keeping_ring(const struct keeping *k)
{
	keeper_ring(k->keeper);
}

/* ---- the process ---- */

static void
close_from_to(int from, int to)
{
	if (from > to)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0U) == 0)
		return;
#endif
	const int last = getdtablesize() - 1;
	for (int fd = from; fd <= to && fd <= last; fd++) /* before Linux 5.9 */
		close(fd);
}

/*
 * A pipe or lock of the user must not stay open because of this process, and neither must the gate of the command. stderr
 * stays open until the grant.
 */
static void
close_inherited(const struct keeper *keeper)
{
	const int low = keeper->socket < keeper->process ? keeper->socket : keeper->process;
	const int high = keeper->socket < keeper->process ? keeper->process : keeper->socket;
	close_from_to(STDERR_FILENO + 1, low - 1);
	close_from_to(low + 1, high - 1);
	close_from_to(high + 1, INT32_MAX);
}

static void
detach_from(int first, int last)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = first; null >= 0 && fd <= last; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

void
keeping_detach(void)
{
	detach_from(STDERR_FILENO, STDERR_FILENO);
}

/* The keeper ignores the signals that end `tsem run`: it leaves the line when the socket closes, and then exits. */
static void
ignore_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

/* ---- steps ---- */

static uint64_t
tick(void *arg)
{
	struct keeping *k = arg;
	const uint64_t now = monotonic_ns();
	const uint64_t lease_due = k->leased ? lease_tick(&k->lease) : UINT64_MAX;
	k->ledger->valid_until_ns = k->lease.valid_until_ns;
	if (now >= k->next_beat_ns) {
		k->ledger->beats++;
		k->next_beat_ns = now + k->o->ttl_s * NS_PER_SECOND / BEATS;
	}
	return lease_due < k->next_beat_ns ? lease_due : k->next_beat_ns;
}

static void
receive(struct keeping *k)
{
	char byte;
	const ssize_t n = recv(k->keeper->socket, &byte, 1, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		k->wrapper_gone = true;
}

void
keeping_step(struct keeping *k, struct curl_waitfd *fds, unsigned n, uint64_t until_ns)
{
	fds[0] = (struct curl_waitfd){.fd = k->keeper->socket, .events = CURL_WAIT_POLLIN};
	/* One that is closed would be ready all the time. */
	const unsigned skipped = k->wrapper_gone ? 1 : 0;
	wire_step(k->sem.wire, fds + skipped, n - skipped, until_ns);
	if (!k->wrapper_gone)
		receive(k);
}

void
keeping_rest(struct keeping *k, const bool *urgent)
{
	const uint64_t end = monotonic_ns() + REST_MS * NS_PER_MS;
	struct curl_waitfd fds[1];
	while ((urgent == NULL || !*urgent) && monotonic_ns() < end)
		keeping_step(k, fds, 1, end);
}

/* ---- the lease ---- */

static void
begin_lease(struct keeping *k)
{
	const pid_t command = k->keeper->command;
	claim_begin(&k->claim, &k->sem, k->o, k->ledger->lease,
	            keeper_is_for_owner(k->keeper) ? command : k->ledger->wrapper, command);
	for (size_t i = 0; i < k->claim.n; i++)
		line_own_key(&k->claim.lines[i], "holders/", k->holder_keys[i]);
	k->lease = (struct lease){
		.wire = k->sem.wire,
		.id = k->ledger->lease,
		.ttl_ns = k->o->ttl_s * NS_PER_SECOND,
		.keys = (const char(*)[KEY_BYTES_MAX])k->holder_keys,
		.keys_n = k->claim.n,
		.valid_until_ns = k->ledger->valid_until_ns,
	};
}

static void
lose_place(struct keeping *k)
{
	if (k->ledger->line != 0 && !k->o->quiet)
		complain(k->o->name,
		         "the store has ended the lease, so the place in the line is lost (it waits again, at the end)");
	k->ledger->line = 0;
}

bool
keeping_lease(struct keeping *k)
{
	const enum outcome outcome = lease_grant(&k->lease, monotonic_ns() + PATIENCE_S * NS_PER_SECOND);
	k->leased = outcome == OUTCOME_DONE;
	if (k->leased && !k->lease.existed)
		lose_place(k); /* of an earlier keeper, whose lease has ended */
	if (outcome == OUTCOME_REFUSED || !(k->leased || k->sem.patience_ns > 0))
		die(k->o->name, "the store grants no lease: %s (see 'etcdctl endpoint status' and 'etcdctl alarm list')",
		    wire_error(k->sem.wire));
	return k->leased;
}

void
keeping_renew(struct keeping *k)
{
	lease_stop(&k->lease);
	/* Whatever is left under it, also by a late request, must not stand in the line. */
	if (k->leased)
		lease_revoke(&k->lease, monotonic_ns() + keeping_patience_ns(k));
	claim_end(&k->claim);
	k->leased = false;
	k->sem.lease_missing = false;
	k->ledger->lease = lease_choose();
	lose_place(k);
	begin_lease(k);
}

bool
keeping_confirm(struct keeping *k, uint64_t deadline_ns)
{
	const uint64_t certain = boottime_ns() + k->lease.ttl_ns;
	lease_stop(&k->lease);
	k->lease.rests = false;
	k->lease.next_ns = 0;
	while (!k->lease.gone && !k->wrapper_gone && k->lease.valid_until_ns < certain && monotonic_ns() < deadline_ns) {
		struct curl_waitfd fds[1];
		keeping_step(k, fds, 1, deadline_ns);
	}
	return !k->lease.gone && k->lease.valid_until_ns >= certain;
}

/* The permits are granted: from now on, the lease is that of the hold. */
static void
settle(struct keeping *k)
{
	claim_settle(&k->claim, &k->ledger->grant);
	for (size_t i = 0; i < k->claim.n; i++)
		line_own_key(&k->claim.lines[i], "holders/", k->holder_keys[i]);
	lease_stop(&k->lease); /* a read from before the grant would not find the keys */
	k->lease.keys_n = k->claim.n;
	k->lease.holds = true;
	k->lease.rests = false;
	k->leased = true;
	k->sem.patience_ns = keeping_patience_ns(k);
	k->sem.goes_on = true;
}

/* Every exit of this process revokes the lease. */
static void
end_lease(void)
{
	lease_stop(&keeping.lease);
	if (keeping.leased)
		lease_revoke(&keeping.lease, monotonic_ns() + REVOKE_S * NS_PER_SECOND);
}

void
keeper_main(struct keeper *keeper)
{
	struct keeping *k = &keeping;
	*k = (struct keeping){.keeper = keeper, .ledger = keeper->ledger, .options = *keeper->o, .o = &k->options};
	k->options.count = keeper->ledger->count;
	prctl(PR_SET_NAME, "tsem-keeper"); /* ps and pgrep show it */
	ignore_signals();
	sigprocmask(SIG_SETMASK, &keeper->mask, NULL);
	close_inherited(keeper);
	detach_from(STDIN_FILENO, STDOUT_FILENO);
	k->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (k->timer < 0)
		die_error(k->o->name, -errno);
	etcd_open_store(&k->sem, k->o, &keeper->store);
	if (k->ledger->line != 0) /* the wait goes on, after another keeper */
		k->sem.patience_ns = keeping_patience_ns(k);
	begin_lease(k);
	atexit(end_lease);
	wire_set_tick(k->sem.wire, tick, k);
	if (k->ledger->granted)
		setsid();
	else
		keeper_acquire(k);
	settle(k);
	if (keeper->purpose == TO_TAKE) {
		keeper_take(k);
	} else {
		keeper_hold(k);
		keeper_release(k);
	}
	exit(EXIT_DONE);
}
