/* SPDX-License-Identifier: MIT */
/* The driver: starts, kills, stops and signals the workers, and checks the invariants at the end. */
#include "storm.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

static const int TIMEOUT_SECONDS = 60, STUCK_SECONDS = 20;

struct driver {
	struct storm *storm;
	uint64_t state;
	unsigned lives[WORKERS_MAX];
	bool stopped[WORKERS_MAX];
	uint64_t kills;
	uint64_t namespaces_killed;
	uint64_t stops;
	uint64_t signals;
	uint64_t lock_counts;      /* how often the locks were counted */
	uint64_t seen[SEMAPHORES]; /* the admissions at the last check */
	double moved[SEMAPHORES];
};

static volatile sig_atomic_t interrupted;

static void
on_termination(int number)
{
	interrupted = number;
}

static void
on_signal(int number)
{
	(void)number;
}

static void
start_worker(struct driver *driver, unsigned worker)
{
	struct entry *entry = &driver->storm->entries[worker];
	monitor_set_activity(driver->storm, worker, 0, ACTIVITY_NONE);
	atomic_store(&entry->doomed, false);
	const pid_t pid = storm_fork(driver->storm, worker);
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		storm_work(driver->storm, worker, driver->lives[worker]);
	}
	if (pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	atomic_store(&entry->pid, pid);
	driver->lives[worker]++;
}

/*
 * A worker that is killed while it takes, holds or posts anonymously may leave a permit that no process posts. The
 * driver posts it.
 */
static void
restore_anonymous(struct storm *storm, unsigned worker)
{
	unsigned semaphore;
	const enum activity activity = monitor_activity(storm, worker, &semaphore);
	const uint32_t count = atomic_load(&storm->entries[worker].count);
	if (semaphore != ANONYMOUS || activity == ACTIVITY_NONE)
		return;
	/* If it was killed in a take or a post, it may have had no permit, so there may be too many now. */
	if (activity != ACTIVITY_HOLDING)
		atomic_fetch_add(&storm->surplus, count);
	if (tsem_post(storm->sems[ANONYMOUS], count, NULL) != 0)
		storm_fault(storm, "the driver's post failed");
}

/* The worker dies of a SIGKILL that was sent after `before`. */
static void
bury_worker(struct driver *driver, unsigned worker, uint64_t before)
{
	struct entry *entry = &driver->storm->entries[worker];
	const int status = await_end(atomic_load(&entry->pid));
	atomic_store(&entry->pid, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		storm_fault(driver->storm, "worker %u ended by itself, status %#x", worker, status);
	restore_anonymous(driver->storm, worker);
	unsigned semaphore;
	if (monitor_activity(driver->storm, worker, &semaphore) == ACTIVITY_HOLDING && semaphore == SINGLE)
		atomic_store(&driver->storm->died, before);
	storm_abandon_change(driver->storm, atomic_exchange(&entry->change, 0));
	storm_end_cancel(driver->storm, worker);
	driver->stopped[worker] = false;
	driver->kills++;
}

/* Kills the worker, and all others in the namespace whose first process it is. That one ends last. */
static void
kill_worker(struct driver *driver, unsigned worker)
{
	struct storm *storm = driver->storm;
	const unsigned n = storm_die_together(storm, worker);
	const uint64_t before = atomic_fetch_add(&storm->sequence, 1);
	for (unsigned i = 0; i < n; i++)
		atomic_store(&storm->entries[worker + i].doomed, true);
	kill(atomic_load(&storm->entries[worker].pid), SIGKILL);
	for (unsigned i = n; i-- > 0;) {
		if (atomic_load(&storm->entries[worker + i].pid) != 0)
			bury_worker(driver, worker + i, before);
	}
	driver->namespaces_killed += n > 1;
}

/* Kills the worker and those that die with it, and starts as many again. */
static void
replace_worker(struct driver *driver, unsigned worker)
{
	const unsigned n = storm_die_together(driver->storm, worker);
	kill_worker(driver, worker);
	for (unsigned i = 0; i < n; i++)
		start_worker(driver, worker + i);
}

/* Counts the locks while all workers are stopped. kill_worker() finds the workers that have ended by themselves. */
static void
count_all_locks(struct driver *driver)
{
	struct storm *storm = driver->storm;
	siginfo_t info;
	for (unsigned i = 0; i < storm->workers; i++)
		kill(atomic_load(&storm->entries[i].pid), SIGSTOP);
	for (unsigned i = 0; i < storm->workers; i++) {
		const id_t pid = (id_t)atomic_load(&storm->entries[i].pid);
		while (waitid(P_PID, pid, &info, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR) {
		}
	}
	for (unsigned i = 0; i < SEMAPHORES; i++)
		storm_count_locks(storm, i);
	for (unsigned i = 0; i < storm->workers; i++) {
		if (!driver->stopped[i])
			kill(atomic_load(&storm->entries[i].pid), SIGCONT);
	}
	driver->lock_counts++;
}

static void
disturb(struct driver *driver)
{
	struct storm *storm = driver->storm;
	if (below(&driver->state, 32) == 0)
		count_all_locks(driver);
	const unsigned worker = below(&driver->state, storm->workers);
	const pid_t pid = atomic_load(&storm->entries[worker].pid);
	switch (below(&driver->state, 4)) {
	case 0:
	case 1:
		replace_worker(driver, worker);
		break;
	case 2:
		kill(pid, driver->stopped[worker] ? SIGCONT : SIGSTOP);
		driver->stopped[worker] = !driver->stopped[worker];
		driver->stops++;
		break;
	default:
		kill(pid, SIGUSR1);
		driver->signals++;
		break;
	}
}

static void
continue_all(struct driver *driver)
{
	for (unsigned i = 0; i < driver->storm->workers; i++) {
		if (driver->stopped[i])
			kill(atomic_load(&driver->storm->entries[i].pid), SIGCONT);
		driver->stopped[i] = false;
	}
}

static void
set_usual_capacities(struct storm *storm)
{
	for (unsigned i = SET_FIRST; i < ANONYMOUS; i++) {
		storm_forget_changes(storm, i);
		if (atomic_load(&storm->change_count[i]) < CHANGES_MAX / 4 * 3)
			storm_set_capacity(storm, i, storm->capacity[i], NULL);
	}
}

/* Every semaphore must keep admitting workers, so that none waits for ever. */
static void
check_progress(struct driver *driver)
{
	for (unsigned i = 0; i < SEMAPHORES; i++) {
		const uint64_t admissions = atomic_load(&driver->storm->admissions[i]);
		if (driver->moved[i] == 0 || admissions != driver->seen[i])
			driver->moved[i] = seconds_now();
		driver->seen[i] = admissions;
		if (seconds_now() - driver->moved[i] > STUCK_SECONDS) {
			storm_fault(driver->storm, "%s has admitted no worker for %d s", driver->storm->names[i], STUCK_SECONDS);
			driver->moved[i] = 0;
		}
	}
}

static void
disturb_workers(struct driver *driver, double seconds)
{
	const double end = seconds_now() + seconds;
	for (unsigned strikes = 0; seconds_now() < end && !interrupted; strikes++) {
		const struct timespec pause_for = {.tv_nsec = (long)below(&driver->state, 2000000)};
		nanosleep(&pause_for, NULL);
		disturb(driver);
		if (strikes % 64 == 63) {
			continue_all(driver);
			set_usual_capacities(driver->storm); /* a dead setter may not have done so */
		}
		check_progress(driver);
		if (atomic_load(&driver->storm->faults) >= (driver->storm->violations ? 1 : STORM_FAULTS_MAX))
			return;
	}
}

/*
 * Kills half of the workers, wherever they are, and all that die with them. The others end by themselves, because each
 * of their waits ends.
 */
static void
end_workers(struct driver *driver)
{
	struct storm *storm = driver->storm;
	const double limit = seconds_now() + TIMEOUT_SECONDS;
	continue_all(driver);
	for (unsigned i = 0; i < storm->workers; i += 2) {
		if (atomic_load(&storm->entries[i].pid) != 0)
			kill_worker(driver, i);
	}
	atomic_store(&storm->ending, true);
	set_usual_capacities(storm);
	for (unsigned i = 1; i < storm->workers; i += 2) {
		const pid_t pid = atomic_load(&storm->entries[i].pid);
		int status = 0;
		pid_t ended;
		if (pid == 0)
			continue;
		while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && seconds_now() < limit && !interrupted) {
			const struct timespec pause_for = {.tv_nsec = 1000000};
			nanosleep(&pause_for, NULL);
		}
		if (ended == pid && status == 0)
			continue;
		if (ended == pid)
			storm_fault(storm, "worker %u crashed, status %#x", i, status);
		else if (!interrupted)
			storm_fault(storm, "worker %u waits for ever", i);
		if (ended != pid)
			kill_worker(driver, i);
	}
}

static int
run(struct storm *storm, double seconds)
{
	static struct driver driver;
	driver.storm = storm;
	driver.state = storm->seed;
	for (unsigned i = 0; i < storm->workers; i++)
		start_worker(&driver, i);
	disturb_workers(&driver, seconds);
	end_workers(&driver);
	for (unsigned i = 0; i < SEMAPHORES; i++) {
		storm_check_end(storm, i);
		tsem_remove(storm->names[i], TSEM_FORCE);
		tsem_close(storm->sems[i]);
	}
	printf("%" PRIu64 " killed, and %" PRIu64 " namespaces as a whole, %" PRIu64 " stopped or continued, %" PRIu64
	       " signalled; %" PRIu64 " timeouts, %" PRIu64 " cancelled, %" PRIu64 " handed over; %" PRIu64
	       " checks by the monitor\n",
	       driver.kills, driver.namespaces_killed, driver.stops, driver.signals, storm->timeouts, storm->cancels,
	       storm->handed_over, storm->checks);
	printf("%u and %u capacities set; %" PRIu64 " times all of several, %" PRIu64 " times any of them; %" PRIu64
	       " holders learnt of a dead holder; %" PRIu64 " times idle, %" PRIu64 " not in time\n",
	       atomic_load(&storm->change_count[SET_FIRST]), atomic_load(&storm->change_count[SET_FIRST + 1]),
	       storm->several[0], storm->several[1], storm->notifications, storm->idle[0], storm->idle[1]);
	printf("%" PRIu64 " counts of the locks; at most %" PRIu64 ", %" PRIu64 ", %" PRIu64 " and %" PRIu64
	       " permits were locked\n",
	       driver.lock_counts, storm->most_locked[0], storm->most_locked[1], storm->most_locked[2],
	       storm->most_locked[3]);
	printf("storm: %u faults with seed %" PRIu64 "\n", storm->faults, storm->seed);
	/* only the locks show a violation */
	const bool expected =
		(storm->faults > 0) == storm->violations && (!storm->violations || storm->faults == storm->faults_by_locks);
	return expected && !interrupted ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
create_in_own_memory(const struct storm *storm, const struct tsem_config *config, tsem **sem)
{
	const size_t size = tsem_size_at(4 * storm->workers); /* the records of dead holders are not free at once */
	return tsem_init_at(share_memory(size), size, config, sem);
}

static void
create_semaphores(struct storm *storm)
{
	static const uint32_t capacities[SEMAPHORES] = {1, 3, 7, 7};
	for (unsigned i = 0; i < SEMAPHORES; i++) {
		const struct tsem_config config = {.size = sizeof(config),
		                                   .permits = capacities[i],
		                                   .max = i == ANONYMOUS ? MOST_POSTED : 0,
		                                   .flags = i == ANONYMOUS ? 0 : TSEM_BOUNDED};
		storm->capacity[i] = capacities[i];
		snprintf(storm->names[i], sizeof(storm->names[i]), "storm.%d.%u%s", (int)getpid(), i,
		         i == ANONYMOUS ? ".anonymous" : "");
		int rc = i == SET_FIRST ? create_in_own_memory(storm, &config, &storm->sems[i])
		                        : tsem_create(storm->names[i], &config, &storm->sems[i]);
		if (rc < 0) {
			fprintf(stderr, "cannot create %s: %s\n", storm->names[i], strerror(-rc));
			exit(EXIT_FAILURE);
		}
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {{"seconds", required_argument, NULL, 's'},
	                                        {"seed", required_argument, NULL, 'r'},
	                                        {"workers", required_argument, NULL, 'w'},
	                                        {"violations", no_argument, NULL, 'i'},
	                                        {0}};
	const struct sigaction action = {.sa_handler = on_termination};
	double seconds = 60;
	uint64_t seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	unsigned long workers = 200;
	bool violations = false;
	bool known = true;
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 's')
			seconds = strtod(optarg, NULL);
		else if (option == 'r')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'w')
			workers = strtoul(optarg, NULL, 0);
		else if (option == 'i')
			violations = true;
		else
			known = false;
	}
	if (!known || optind != argc || workers < 2 || workers > WORKERS_MAX) {
		fprintf(stderr, "usage: %s [--seconds N] [--seed N] [--workers 2...%d] [--violations]\n", argv[0], WORKERS_MAX);
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* The workers inherit this handler, because a signal may come before a worker could set it. */
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	struct storm *storm = share_memory(sizeof(*storm));
	storm->seed = seed;
	storm->workers = (unsigned)workers;
	storm->violations = violations;
	printf("storm of %lu processes for %.0f s, seed %" PRIu64 "\n", workers, seconds, seed);
	create_semaphores(storm);
	storm_create_locks();
	storm_open_namespaces(storm);
	return run(storm, seconds);
}
