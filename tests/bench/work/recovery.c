/* SPDX-License-Identifier: MIT */
/*
 * The time from the last SIGKILL to the next admission: after the death of the holder, with waiters; and of the holder
 * and all waiters but the last. With 0 waiters a process comes afterwards.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moment.h"
#include "pool.h"

static struct pool pool;

static pid_t
start_holder(const struct subject *subject)
{
	atomic_uint *holds = shared_memory(sizeof(*holds));
	const pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		tsem_hold hold;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		subject->peer->take(subject->semaphore, &hold);
		atomic_store(holds, 1);
		futex_wake(holds, 1, BETWEEN_PROCESSES);
		for (;;)
			pause();
	}
	while (atomic_load(holds) == 0)
		futex_wait(holds, 0, BETWEEN_PROCESSES);
	return pid;
}

static void
recover_once(const struct peer *peer, unsigned waiters, bool all_die)
{
	const struct subject subject = {.peer = peer, .semaphore = peer->create(1)};
	const unsigned queued = waiters + (all_die || waiters == 0 ? 1 : 0);
	pool.subjects[0] = subject;
	const pid_t holder = start_holder(&subject);
	if (!pool_start(&pool, queued))
		die("fork");
	if (waiters > 0)
		pool_queue(&pool, 0, 0, waiters, PASS_ON);
	if (waiters > 0 && all_die)
		pool_queue(&pool, 0, waiters, queued, PASS_ON);

	kill(holder, SIGKILL);
	if (all_die)
		pool_kill(&pool, 0, waiters);
	const uint64_t began = now_ns();
	if (waiters == 0)
		pool_send(&pool, 0, 0, 1, PASS_ON);
	const bool done = pool_wait(&pool, 1, STUCK_SECONDS);
	const uint64_t admitted = pool.control->stamps[0];
	if (done)
		say(peer->name, waiters, all_die ? "holder and all in front die" : "holder dies", "ms",
		    admitted > began ? (double)(admitted - began) / 1e6 : 0);
	else
		say_missing(peer->name, waiters, "no process was admitted within 10 s");
	waitpid(holder, NULL, 0);
	pool_end(&pool);
	peer->destroy(subject.semaphore);
}

static void
measure(const struct options *options, unsigned waiters)
{
	for (unsigned repetition = 0; repetition < options->repetitions; repetition++)
		for (const struct peer *const *peer = options->peers; *peer != NULL; peer++)
			if (((*peer)->traits & RECOVERS) != 0) {
				recover_once(*peer, waiters, false);
				if (waiters > 0)
					recover_once(*peer, waiters, true);
			}
}

/* The list ends with 0, which is also a number of waiters. */
void
run_recovery(const struct options *options)
{
	measure(options, 0);
	for (const unsigned *waiters = options->participants; *waiters != 0; waiters++)
		measure(options, *waiters);
}
