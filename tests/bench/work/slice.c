/* SPDX-License-Identifier: MIT */
#include "slice.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moment.h"

struct start {
	struct slice *slice;
	unsigned index;
	participant_fn *body;
	void *arg;
};

struct slice *
slice_new(void)
{
	return shared_memory(sizeof(struct slice));
}

static bool ruled;

static void
set_priority(int priority)
{
	const struct sched_param param = {.sched_priority = priority};
	if (sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		die("sched_setscheduler");
}

void
slice_rule(const struct options *options)
{
	ruled = options->realtime;
	if (ruled)
		set_priority(2);
}

void
slice_hurry(void)
{
	if (ruled)
		set_priority(1);
}

void
slice_begin(struct slice *slice)
{
	atomic_fetch_add(&slice->ready, 1);
	futex_wake(&slice->ready, 1, BETWEEN_PROCESSES);
	while (atomic_load(&slice->go) == 0)
		futex_wait(&slice->go, 0, BETWEEN_PROCESSES);
}

/* Lets all participants run once they are ready, and returns for how long they did. */
static double
time_slice(struct slice *slice, unsigned participants, double seconds)
{
	for (unsigned ready; (ready = atomic_load(&slice->ready)) < participants;)
		futex_wait(&slice->ready, ready, BETWEEN_PROCESSES);
	const uint64_t began = now_ns();
	atomic_store(&slice->go, 1);
	futex_wake(&slice->go, INT_MAX, BETWEEN_PROCESSES);
	sleep_for(seconds);
	atomic_store(&slice->stop, 1);
	return (double)(now_ns() - began) / 1e9;
}

static double
run_processes(const struct start *start, unsigned participants, double seconds)
{
	pid_t children[PARTICIPANTS_MAX];
	for (unsigned i = 0; i < participants; i++) {
		children[i] = fork();
		if (children[i] < 0)
			die("fork");
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			start->body(start->slice, i, start->arg);
			_exit(0);
		}
	}
	const double took = time_slice(start->slice, participants, seconds);
	for (unsigned i = 0; i < participants; i++) {
		int status;
		if (waitpid(children[i], &status, 0) < 0 || status != 0)
			die("a participant failed");
	}
	return took;
}

static void *
run_thread(void *arg)
{
	const struct start *start = arg;
	start->body(start->slice, start->index, start->arg);
	return NULL;
}

static double
run_threads(const struct start *start, unsigned participants, double seconds)
{
	pthread_t threads[PARTICIPANTS_MAX];
	struct start starts[PARTICIPANTS_MAX];
	for (unsigned i = 0; i < participants; i++) {
		starts[i] = *start;
		starts[i].index = i;
		if (pthread_create(&threads[i], NULL, run_thread, &starts[i]) != 0)
			die("pthread_create");
	}
	const double took = time_slice(start->slice, participants, seconds);
	for (unsigned i = 0; i < participants; i++)
		pthread_join(threads[i], NULL);
	return took;
}

double
slice_run(struct slice *slice, bool threads, unsigned participants, double seconds, participant_fn *body, void *arg)
{
	const struct start start = {.slice = slice, .body = body, .arg = arg};
	if (participants > PARTICIPANTS_MAX)
		die("too many participants");
	memset(slice, 0, sizeof(*slice));
	return threads ? run_threads(&start, participants, seconds) : run_processes(&start, participants, seconds);
}

/* Called at the beginning and at the end: adds up the differences. */
void
slice_watch_delay(struct slice *slice, unsigned index)
{
	unsigned long long delayed = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	if (file == NULL)
		return;
	if (fscanf(file, "%*u %llu", &delayed) == 1) {
		_Atomic uint64_t *sum = &slice->tallies[index].delayed_ns;
		atomic_store(sum, delayed - atomic_load(sum));
	}
	fclose(file);
}

double
slice_delayed(const struct slice *slice, unsigned participants, double took)
{
	uint64_t delayed = 0;
	for (unsigned i = 0; i < participants; i++)
		delayed += atomic_load(&slice->tallies[i].delayed_ns);
	return (double)delayed / 1e9 / took / participants;
}

uint64_t
slice_rounds(const struct slice *slice, unsigned participants)
{
	uint64_t rounds = 0;
	for (unsigned i = 0; i < participants; i++)
		rounds += atomic_load(&slice->tallies[i].rounds);
	return rounds;
}
