/* SPDX-License-Identifier: MIT */
#include "jobserver/jobserver.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "jobserver/flags.h"
#include "message.h"
#include "spawn.h"
#include "waiting.h"

enum {
	PATIENCE_MS = 50,   /* how long an unclaimed token may lie while others wait */
	REST_MS = 50,       /* how long nothing is asked for after that; twice as long each time, */
	REST_MAX_MS = 400,  /* up to this, until a token is claimed */
	LOOK_MS = 500,      /* between looks for lost tokens */
	LOOK_SHARE = 100,   /* of the time, at most one part in so many is spent on them */
	TRY_AGAIN_MS = 100, /* after a request that failed */
};

static uint64_t
now_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

int
jobserver_open(struct jobserver *js, const char *name, tsem *sem, enum jobserver_style style)
{
	*js = (struct jobserver){
		.name = name, .sem = sem, .request = {.ready = -1}, .family_jobs = SIZE_MAX, .rest_ms = REST_MS};
	int rc = token_pipes_open(&js->pipes, style);
	if (rc < 0)
		return rc;
	char *flags = jobserver_makeflags(getenv("MAKEFLAGS"), js->pipes.auth);
	if (flags == NULL) {
		token_pipes_close(&js->pipes);
		return -ENOMEM;
	}
	family_adopt_orphans();
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
	return js->out > unclaimed ? js->out - unclaimed : 0; /* what lies there may be of a client's own making */
}

/* A token has come back, or is gone: its permit is for whoever is first in line. */
static void
give_back_permit(struct jobserver *js)
{
	if (js->out > 0)
		tsem_end_loan(&js->holds[--js->out]);
	js->traffic++;
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

/* First the permit becomes the command's, then the token can be claimed: whenever we die, there is no token without. */
static void
offer_token(struct jobserver *js, tsem_hold *hold)
{
	if (!make_room(js) || tsem_lend(hold, js->pid) < 0) {
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
	js->traffic++;
}

static void
retract_token(struct jobserver *js)
{
	if (js->offered && token_retract(&js->pipes))
		give_back_permit(js);
	js->offered = false;
}

/* Clients that return more than they claimed, or claim what was lost, are not believed. */
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
refuse(struct jobserver *js, int error)
{
	/* After 'tsem cancel' it waits again, as a new arrival; when all records are in use, a little later. */
	if (error == -ECANCELED || error == -EUSERS || error == -EAGAIN)
		return;
	js->refused = true;
	complain(js->name, "no more permits for this build: %s; it goes on with those it has", error_text(error));
}

static void
ask_for_permit(struct jobserver *js)
{
	tsem_hold hold;
	int rc = tsem_try_acquire(js->sem, 1, &hold);
	if (rc == 0)
		offer_token(js, &hold);
	else if (rc == -EAGAIN)
		rc = request_start(&js->request);
	if (rc < 0)
		refuse(js, rc);
}

static void
see_to_the_offer(struct jobserver *js)
{
	if (js->offered && !token_is_unclaimed(&js->pipes)) {
		js->offered = false;
		js->rest_ms = REST_MS;
		js->traffic++;
	}
	struct pollfd ready = {.fd = js->request.ready, .events = POLLIN};
	if (js->request.pending && poll(&ready, 1, 0) == 1) {
		tsem_hold hold;
		const int rc = request_finish(&js->request, &hold);
		if (rc == 0)
			offer_token(js, &hold);
		else
			refuse(js, rc);
	}
	if (!js->offered && !js->request.pending && !js->refused && now_ms() >= js->ask_ms)
		ask_for_permit(js);
}

/*
 * Nobody claims it, and somebody waits for it. Nobody can be asked whether the build wants another: so we offer one again and
 * again, behind the others in line and less and less often, or they would have every other turn only.
 */
static void
be_considerate(struct jobserver *js)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	if (!js->offered || now_ms() - js->offered_ms < PATIENCE_MS)
		return;
	if (tsem_stat(js->sem, &stat) != 0 || stat.waiting == 0)
		return;
	retract_token(js);
	js->ask_ms = now_ms() + js->rest_ms;
	js->rest_ms = js->rest_ms < REST_MAX_MS / 2 ? js->rest_ms * 2 : REST_MAX_MS;
}

/* ---- lost tokens ---- */

/*
 * A token stands for a job, and a job has a thread: so beyond the threads of the build, of which one uses the command's own
 * permit, tokens are lost. But a thread that runs may have a token more: it has just read it, or is about to return it.
 */
static size_t
count_possible_jobs(const struct jobserver *js, const struct family *family)
{
	if (!family->known || family->threads == 0)
		return SIZE_MAX;
	const bool quiet = family->asleep && js->family.asleep && family->fingerprint == js->family.fingerprint;
	return (quiet ? family->threads : 2 * family->threads) - 1;
}

/* What has not been seen yet, behind the look at the family: who did it may have been missed by that. */
static bool
has_traffic_to_see(const struct jobserver *js)
{
	return token_is_returned(&js->pipes) || (js->offered && !token_is_unclaimed(&js->pipes));
}

/* Only what two looks agree on, and no token has moved between them. */
static void
look_for_lost_tokens(struct jobserver *js)
{
	const uint64_t began = now_ms();
	if (began < js->look_ms)
		return;
	const size_t claimed = count_claimed(js);
	const struct family family = claimed > 0 ? family_look(claimed + 1) : (struct family){.known = false};
	const size_t jobs = count_possible_jobs(js, &family);
	const size_t possible = jobs > js->family_jobs ? jobs : js->family_jobs;
	if (js->traffic == js->family_traffic && !has_traffic_to_see(js)) {
		for (size_t lost = claimed > possible ? claimed - possible : 0; lost > 0; lost--)
			give_back_permit(js);
	}
	js->family = family;
	js->family_jobs = jobs;
	js->family_traffic = js->traffic;
	const uint64_t end = now_ms();
	js->look_ms = end + LOOK_MS + (end - began) * LOOK_SHARE;
}

/* ---- serving ---- */

/* Orphans of the build, which have become our children. */
static void
reap_orphans(pid_t command)
{
	siginfo_t info = {0};
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 && info.si_pid != command) {
		waitpid(info.si_pid, NULL, WNOHANG);
		info = (siginfo_t){0};
	}
}

/* Until when nothing has to be done unless something happens. */
static int
poll_timeout(const struct jobserver *js)
{
	const uint64_t now = now_ms();
	uint64_t until = UINT64_MAX;
	if (js->offered)
		until = js->offered_ms + PATIENCE_MS > now ? js->offered_ms + PATIENCE_MS : now + PATIENCE_MS;
	else if (!js->request.pending && !js->refused && !js->stopped)
		until = js->ask_ms > now ? js->ask_ms : now + TRY_AGAIN_MS;
	if (count_claimed(js) > 0 && js->look_ms < until)
		until = js->look_ms;
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
	if (rc < 0) { /* nothing can be served without; the build has its implicit slot */
		refuse(js, rc);
		spawn_wait(pid, info);
		return;
	}
	while ((state = spawn_look(pid, info)) != COMMAND_ENDED) {
		js->stopped = state == COMMAND_STOPPED;
		if (js->stopped) {
			/* A stopped build claims nothing. */
			retract_token(js);
			request_cancel(&js->request);
			spawn_stop_with_command();
		}
		reap_orphans(pid);
		take_returned(js);
		look_for_lost_tokens(js);
		be_considerate(js);
		if (!js->stopped)
			see_to_the_offer(js);
		wait_for_events(js, signals);
		spawn_pass_signals_on(signals, pid);
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
