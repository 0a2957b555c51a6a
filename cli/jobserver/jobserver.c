/* SPDX-License-Identifier: MIT */
#include "jobserver/jobserver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobserver/flags.h"
#include "message.h"
#include "monotonic.h"
#include "spawn.h"
#include "waiting.h"

enum {
	UNCLAIMED_MS = 50,    /* after this long, an unclaimed token gives way to waiters */
	BACKOFF_MS = 50,      /* then the jobserver requests no permit for this long, doubled each time */
	BACKOFF_MAX_MS = 400, /* until a token is claimed */
	RETRY_MS = 100,       /* after a request that failed */
};

static uint64_t
now_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

int
jobserver_open(struct jobserver *js, const char *name, tsem *sem, enum jobserver_style style)
{
	*js = (struct jobserver){.name = name, .sem = sem, .request = {.ready = -1}, .backoff_ms = BACKOFF_MS};
	int rc = token_pipes_open(&js->pipes, style);
	if (rc < 0)
		return rc;
	char *flags = jobserver_makeflags(getenv("MAKEFLAGS"), js->pipes.auth);
	if (flags == NULL) {
		token_pipes_close(&js->pipes);
		return -ENOMEM;
	}
	setenv("MAKEFLAGS", flags, 1);
	setenv("TSEM_JOBSERVER", name, 1);
	free(flags);
	return 0;
}

/* ---- tokens and permits ---- */

static size_t
count_claimed(const struct jobserver *js)
{
	const size_t unclaimed = token_is_unclaimed(&js->pipes) ? 1 : 0;
	return js->out > unclaimed ? js->out - unclaimed : 0; /* a client may have written the unclaimed one itself */
}

/* A token has been returned, so the first waiter of the semaphore gets its permit. */
static void
give_back_permit(struct jobserver *js)
{
	if (js->out > 0)
		tsem_release(&js->holds[--js->out]);
}

static bool
make_room(struct jobserver *js)
{
	if (js->out < js->room)
		return true;
	const size_t room = js->room * 2 + 16;
	tsem_hold *holds = realloc(js->holds, room * sizeof(*holds));
	if (holds == NULL)
		return false;
	js->holds = holds;
	js->room = room;
	return true;
}

/* The command owns the permit before the token can be claimed. If this process dies, each token still has a permit. */
static void
offer_token(struct jobserver *js, tsem_hold *hold)
{
	tsem_process command;
	if (!make_room(js) || tsem_find_process(js->pid, &command) < 0 || tsem_lend(hold, &command) < 0) {
		give_back_unused(hold);
		return;
	}
	js->holds[js->out++] = *hold;
	if (!token_offer(&js->pipes)) {
		give_back_permit(js);
		return;
	}
	js->offered = true;
	js->offered_ms = now_ms();
}

static void
retract_token(struct jobserver *js)
{
	if (js->offered && token_retract(&js->pipes))
		give_back_permit(js);
	js->offered = false;
}

/* Ignores tokens that clients return beyond those that are claimed. */
static void
take_returned(struct jobserver *js)
{
	size_t n;
	while ((n = token_count_returned(&js->pipes)) > 0) {
		for (; n > 0 && count_claimed(js) > 0; n--)
			give_back_permit(js);
	}
}

/* ---- the next permit ---- */

static void
handle_failed_request(struct jobserver *js, int error)
{
	/*
	 * These pass: a cancelled request starts again as a new arrival, the others succeed once records or threads are
	 * free.
	 */
	if (error == -ECANCELED || error == -EUSERS || error == -EAGAIN)
		return;
	js->refused = true;
	complain(js->name, "this build gets no more permits: %s; it continues with those it has",
	         error_text(js->name, error));
}

static void
request_permit(struct jobserver *js)
{
	tsem_hold hold;
	int rc = tsem_try_acquire(js->sem, 1, &hold);
	if (rc == 0)
		offer_token(js, &hold);
	else if (rc == -EAGAIN)
		rc = request_start(&js->request);
	if (rc < 0)
		handle_failed_request(js, rc);
}

static void
update_offer(struct jobserver *js)
{
	if (js->offered && !token_is_unclaimed(&js->pipes)) {
		js->offered = false;
		js->backoff_ms = BACKOFF_MS;
	}
	struct pollfd ready = {.fd = js->request.ready, .events = POLLIN};
	if (js->request.pending && poll(&ready, 1, 0) == 1) {
		tsem_hold hold;
		const int rc = request_finish(&js->request, &hold);
		if (rc == 0)
			offer_token(js, &hold);
		else
			handle_failed_request(js, rc);
	}
	if (!js->offered && !js->request.pending && !js->refused && now_ms() >= js->request_at_ms)
		request_permit(js);
}

/*
 * An unclaimed token keeps a permit from waiters. The build cannot tell whether it wants another token, so the
 * jobserver offers one again later. It does so as a new arrival and at growing intervals: otherwise it would get every
 * other permit.
 */
static void
yield_unclaimed_token(struct jobserver *js)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (!js->offered || now_ms() - js->offered_ms < UNCLAIMED_MS)
		return;
	if (tsem_stat(js->sem, &stat) != 0 || stat.waiting == 0)
		return;
	retract_token(js);
	js->request_at_ms = now_ms() + js->backoff_ms;
	js->backoff_ms = js->backoff_ms < BACKOFF_MAX_MS / 2 ? js->backoff_ms * 2 : BACKOFF_MAX_MS;
}

/* ---- serving ---- */

/* The time until the next action that no event announces. */
static int
poll_timeout(const struct jobserver *js)
{
	const uint64_t now = now_ms();
	uint64_t until = UINT64_MAX;
	if (js->offered)
		until = js->offered_ms + UNCLAIMED_MS > now ? js->offered_ms + UNCLAIMED_MS : now + UNCLAIMED_MS;
	else if (!js->request.pending && !js->refused && !js->stopped)
		until = js->request_at_ms > now ? js->request_at_ms : now + RETRY_MS;
	if (until == UINT64_MAX)
		return -1;
	return until > now ? (int)(until - now) : 0;
}

static void
wait_for_events(const struct jobserver *js, int signals)
{
	struct pollfd fds[2 + TOKEN_EVENTS] = {
		{.fd = signals, .events = POLLIN},
		{.fd = js->request.pending ? js->request.ready : -1, .events = POLLIN},
	};
	token_events(&js->pipes, js->offered, fds + 2);
	poll(fds, sizeof(fds) / sizeof(fds[0]), poll_timeout(js));
	token_acknowledge_events(&js->pipes);
}

void
jobserver_serve(struct jobserver *js, pid_t pid, siginfo_t *info)
{
	enum command_state state;
	const int signals = spawn_open_signals();
	const int rc = signals < 0 ? signals : request_open(&js->request, js->sem);
	js->pid = pid;
	if (rc < 0) { /* the build continues with its implicit slot */
		handle_failed_request(js, rc);
		spawn_wait(pid, info);
		return;
	}
	while ((state = spawn_poll(pid, info)) != COMMAND_ENDED) {
		js->stopped = state == COMMAND_STOPPED;
		if (js->stopped) {
			/* A stopped build claims no token, so its unused permit goes to the waiters. */
			retract_token(js);
			request_cancel(&js->request);
			spawn_stop_with_command();
		}
		take_returned(js);
		yield_unclaimed_token(js);
		if (!js->stopped)
			update_offer(js);
		wait_for_events(js, signals);
		spawn_forward_signals(signals, pid);
	}
	close(signals);
}

void
jobserver_close(struct jobserver *js, unsigned flags)
{
	request_close(&js->request);
	token_pipes_close(&js->pipes);
	while (js->out > 0)
		tsem_reap(&js->holds[--js->out], flags);
	free(js->holds);
}
