/* SPDX-License-Identifier: MIT */
/*
 * The time from the SIGKILL of an owner without a presence lock to the admission of the first waiter. Only processes in
 * the owner's PID namespace can find that it is dead.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "container.h"
#include "moment.h"
#include "pool.h"

/* A letter is a waiter, in the order of the queue: h is one in the owner's namespace, c is one in another. */
static const char *const mixes[] = {"h", "hc", "cch", "chc", "hhh", "cccchcc", "cccchcccc", NULL};

/*
 * How the owner got the permit. In a container, a process that acquires for itself has a lock, so there is no fourth
 * way.
 */
static const struct way {
	const char *label;
	bool handed_over; /* as by `tsem acquire --owner` */
	bool mirrored;    /* h is a container, and c is the host */
} ways[] = {
	{"acquire --owner, on the host", true, false},
	{"acquired before a container did", false, false},
	{"acquire --owner, in a container", true, true},
};

/* What the keeper of the container shares with this process. */
struct shared {
	pid_t owner; /* 0: there is none */
	atomic_bool holds;
};

struct trial {
	const char *mix;
	const struct way *way;
	struct subject subject;
	struct shared *shared;
};

static struct pool pool;

/* ---- the owner ---- */

/* In a child, acquires for the parent. */
static void
acquire_for_parent(const struct subject *subject)
{
	tsem_hold hold;
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		subject->peer->take(subject->semaphore, &hold);
		_exit(tsem_hand_over(&hold, getppid()) == 0 ? 0 : 1);
	}
	int status = 1;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		die("tsem_hand_over");
}

static _Noreturn void
own(const struct trial *trial)
{
	tsem_hold hold;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (trial->way->handed_over)
		acquire_for_parent(&trial->subject);
	else
		trial->subject.peer->take(trial->subject.semaphore, &hold);
	atomic_store(&trial->shared->holds, true);
	for (;;)
		pause();
}

static void
start_owner(const struct trial *trial)
{
	const pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		own(trial);
	trial->shared->owner = pid;
	await(is_set, &trial->shared->holds, "an owner");
}

/* ---- the waiters ---- */

static bool
is_contained(const struct trial *trial, unsigned waiter)
{
	return (trial->mix[waiter] == 'c') != trial->way->mirrored;
}

static void
start_waiters(const struct trial *trial, bool contained)
{
	for (unsigned i = 0; i < pool.size; i++)
		if (is_contained(trial, i) == contained && !pool_fork(&pool, i))
			die("fork");
}

static void
populate_container(void *arg)
{
	const struct trial *trial = arg;
	if (trial->way->mirrored)
		start_owner(trial);
	start_waiters(trial, true);
}

/* ---- the trial ---- */

/* Its parent waits for it: this process, or the keeper of the container. */
static void
end_owner(struct shared *shared)
{
	if (shared->owner == 0)
		return;
	kill(shared->owner, SIGKILL);
	waitpid(shared->owner, NULL, 0);
	shared->owner = 0;
}

static void
time_admission(const struct trial *trial)
{
	kill(trial->shared->owner, SIGKILL);
	const uint64_t began = now_ns();
	const bool done = pool_wait(&pool, 1, STUCK_SECONDS);
	if (done && atomic_load(&pool.control->latest) != 0)
		die("the first waiter was overtaken");
	if (!done)
		say_missing(trial->mix, 0, "the first waiter was not admitted within 10 s");
	const double ms = done ? milliseconds_between(began, pool.control->stamps[0]) : STUCK_SECONDS * 1e3;
	say("all mixes", 0, "each way", "ms", ms);
	say(trial->mix, 0, trial->way->label, "ms", ms);
}

/* Returns 0, or an errno: there are no containers here. */
static int
try_mix(struct trial *trial, double seconds)
{
	struct container container;
	pool.subjects[0] = trial->subject;
	pool_create(&pool, (unsigned)strlen(trial->mix));
	if (!trial->way->mirrored)
		start_owner(trial);
	const int error = container_start(&container, populate_container, trial);
	if (error == 0) {
		start_waiters(trial, false);
		for (unsigned i = 0; i < pool.size; i++)
			pool_queue(&pool, 0, i, i + 1, KEEP);
		sleep_randomly(0.05, 0.05 + seconds);
		time_admission(trial);
	}
	end_owner(trial->shared);
	pool_end(&pool);
	container_end(&container);
	return error;
}

void
run_mixes(const struct options *options)
{
	static const struct peer *const peer = &peer_tsem_owned;
	struct trial trial = {.subject.peer = peer, .shared = shared_memory(sizeof(*trial.shared))};
	int error = 0;
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		for (const char *const *mix = mixes; *mix != NULL; mix++)
			for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]) && error == 0; way++) {
				trial.mix = *mix;
				trial.way = &ways[way];
				trial.subject.semaphore = peer->create(1);
				atomic_store(&trial.shared->holds, false);
				error = try_mix(&trial, options->seconds);
				peer->destroy(trial.subject.semaphore);
			}
	if (error != 0)
		say_missing("all mixes", 0, strerror(error));
}
