/* SPDX-License-Identifier: MIT */
/*
 * Threads do with their holds whatever is allowed: have several, release them in any order and for each other, hand
 * them over, and end with or without them. Meanwhile signal handlers post, or processes are killed. Never more holders
 * than the capacity, and no permit is lost.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CAPACITY = 7, PROCESSES = 4, THREADS = 4, LIVES = 12, STEPS = 100, HOLDS = 3, KILLS = 24, STEPS_PER_KILL = 500 };

/* Shared by all processes, and independent of the semaphore. */
struct counts {
	tsem *sem;
	_Atomic uint64_t inside; /* permits of each process, 8 bits each: one load reads all at one instant */
	_Atomic uint32_t doomed; /* bit mask of processes that may be dead: their permits do not count */
	_Atomic uint32_t births; /* successors: after one, `inside` and `doomed` may belong to different times */
	_Atomic uint32_t steps;
	_Atomic int wrong; /* line of the first violation */
	_Atomic int pids[PROCESSES];
	_Atomic bool stop;
	bool posts_in_handlers;
};

static struct counts *counts;

/* In this process. */
static unsigned self;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static unsigned running;
static struct parcel {
	tsem_hold hold;
	uint32_t count;
} left_behind; /* a hold that any thread may release; count 0: none */
static _Atomic int to_be_posted;

#define MUST(condition)                                                       \
	do {                                                                      \
		int none_ = 0;                                                        \
		if (!(condition))                                                     \
			atomic_compare_exchange_strong(&counts->wrong, &none_, __LINE__); \
	} while (0)

static void
enter(uint32_t count)
{
	const uint32_t births = atomic_load(&counts->births);
	const uint64_t more = (uint64_t)count << 8 * self;
	const uint64_t inside = atomic_fetch_add(&counts->inside, more) + more;
	const uint32_t doomed = atomic_load(&counts->doomed);
	uint32_t sum = 0;
	for (unsigned i = 0; i < PROCESSES; i++)
		sum += (doomed >> i & 1) != 0 ? 0 : (uint32_t)(inside >> 8 * i) & 0xff;
	MUST(sum <= CAPACITY || atomic_load(&counts->births) != births);
}

static void
leave(uint32_t count)
{
	atomic_fetch_sub(&counts->inside, (uint64_t)count << 8 * self);
}

static void
give_back(struct parcel *parcel)
{
	tsem_hold copy = parcel->hold;
	leave(parcel->count);
	MUST(tsem_release(&parcel->hold) == 0);
	MUST(tsem_release(&copy) == -EPERM);
	parcel->count = 0;
}

/* ---- a thread ---- */

struct worker {
	unsigned seed;
	struct parcel parcels[HOLDS];
	unsigned n;
};

static unsigned
draw(struct worker *worker, unsigned below)
{
	return (unsigned)rand_r(&worker->seed) % below;
}

/* Waits only when it holds nothing, because otherwise all threads could wait for each other. */
static void
acquire(struct worker *worker)
{
	if (worker->n == HOLDS)
		return;
	struct parcel *parcel = &worker->parcels[worker->n];
	const uint32_t count = draw(worker, 4) == 0 ? 2 : 1;
	const struct timespec deadline = deadline_in(5);
	const int rc = worker->n == 0 ? tsem_acquire(counts->sem, count, &deadline, &parcel->hold)
	                              : tsem_try_acquire(counts->sem, count, &parcel->hold);
	MUST(rc == 0 || rc == (worker->n == 0 ? -ETIMEDOUT : -EAGAIN));
	if (rc != 0)
		return;
	enter(count);
	parcel->count = count;
	worker->n++;
}

/* Removes one of its holds, and returns it. */
static struct parcel
pick(struct worker *worker)
{
	const unsigned i = draw(worker, worker->n);
	const struct parcel parcel = worker->parcels[i];
	worker->parcels[i] = worker->parcels[--worker->n];
	return parcel;
}

/* Leaves a hold for another thread, and releases the one that was there. */
static void
swap(struct worker *worker)
{
	struct parcel mine = {.count = 0};
	if (worker->n > 0)
		mine = pick(worker);
	pthread_mutex_lock(&mutex);
	struct parcel other = left_behind;
	left_behind = mine;
	pthread_mutex_unlock(&mutex);
	if (other.count != 0)
		give_back(&other);
}

/*
 * Hands a hold over to a random process, which may be dead, and releases for that process whatever it was given last.
 */
static void
hand_over(struct worker *worker)
{
	struct parcel parcel = pick(worker);
	tsem_hold copy = parcel.hold;
	const pid_t pid = atomic_load(&counts->pids[draw(worker, PROCESSES)]);
	leave(parcel.count);
	int rc = tsem_hand_over(&parcel.hold, pid);
	MUST(rc == 0 || rc == -ESRCH);
	if (rc != 0) {
		MUST(tsem_release(&parcel.hold) == 0);
		return;
	}
	MUST(tsem_release(&copy) == -EPERM);
	rc = tsem_release_for(counts->sem, pid);
	MUST(rc == 0 || rc == -ESRCH || rc == -ENOENT);
}

static void
post_one(int signal_number)
{
	(void)signal_number;
	int n = atomic_load(&to_be_posted);
	while (n > 0 && !atomic_compare_exchange_weak(&to_be_posted, &n, n - 1))
		;
	if (n > 0)
		MUST(tsem_post(counts->sem, 1, NULL) == 0);
}

/* Any thread may run this handler. It takes no permit if a process may be killed that has to post it. */
static void
take(void)
{
	const struct timespec deadline = deadline_in(5);
	if (!counts->posts_in_handlers || tsem_take(counts->sem, 1, &deadline) != 0)
		return;
	atomic_fetch_add(&to_be_posted, 1);
	kill(getpid(), SIGUSR1);
}

static void *
work(void *arg)
{
	struct worker worker = {.seed = (unsigned)(uintptr_t)arg};
	for (unsigned i = 0; i < STEPS; i++) {
		const unsigned what = draw(&worker, 10);
		if (what < 4) {
			acquire(&worker);
		} else if (what == 4) {
			swap(&worker);
		} else if (what == 5) {
			take();
		} else if (worker.n > 0 && what == 6) {
			hand_over(&worker);
		} else if (worker.n > 0) {
			struct parcel parcel = pick(&worker);
			give_back(&parcel);
		}
		atomic_fetch_add(&counts->steps, 1);
	}
	while (worker.n > 0)
		swap(&worker);
	pthread_mutex_lock(&mutex);
	running--;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* ---- a process ---- */

/* Starts some threads at a time. Each ends by itself, and passes on its number and, with it, its cached record. */
static int
live(void *arg)
{
	self = (unsigned)(uintptr_t)arg;
	atomic_store(&counts->pids[self], getpid());
	sigset_t usr1;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	signal(SIGUSR1, post_one);
	pthread_attr_t detached;
	CHECK(pthread_attr_init(&detached) == 0);
	CHECK(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
	unsigned seed = (unsigned)getpid();
	for (unsigned begun = 0; counts->posts_in_handlers ? begun < THREADS * LIVES : !atomic_load(&counts->stop);
	     begun++) {
		pthread_t thread;
		pthread_mutex_lock(&mutex);
		while (running == THREADS)
			pthread_cond_wait(&ended, &mutex);
		running++;
		pthread_mutex_unlock(&mutex);
		pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
		CHECK(pthread_create(&thread, &detached, work, (void *)(uintptr_t)rand_r(&seed)) == 0);
		pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	}
	pthread_mutex_lock(&mutex);
	while (running > 0)
		pthread_cond_wait(&ended, &mutex);
	pthread_mutex_unlock(&mutex);
	if (left_behind.count != 0)
		give_back(&left_behind);
	while (atomic_load(&to_be_posted) > 0)
		post_one(SIGUSR1);
	return 0;
}

static pid_t
start(unsigned i)
{
	const pid_t pid = start_child(live, (void *)(uintptr_t)i);
	atomic_store(&counts->pids[i], pid);
	return pid;
}

static void
begin(bool posts_in_handlers, pid_t pids[PROCESSES])
{
	counts = shared_memory(sizeof(*counts));
	counts->sem = new_semaphore(CAPACITY, 0);
	counts->posts_in_handlers = posts_in_handlers;
	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = start(i);
}

static void
end(const pid_t pids[PROCESSES])
{
	for (unsigned i = 0; i < PROCESSES; i++)
		assert_int_equal(end_of_child(pids[i]), 0);
	assert_int_equal(tsem_recover(counts->sem, NULL), 0);
	assert_int_equal(atomic_load(&counts->wrong), 0);
	expect_at_rest(counts->sem, CAPACITY);
	tsem_close(counts->sem);
	munmap(counts, sizeof(*counts));
}

TEST(while_signal_handlers_post)
{
	pid_t pids[PROCESSES];
	begin(true, pids);
	end(pids);
}

/* The victim's permits do not count from before its death until its successor starts. */
TEST(while_processes_are_killed)
{
	pid_t pids[PROCESSES];
	begin(false, pids);
	for (unsigned i = 0; i < KILLS; i++) {
		const unsigned victim = i % PROCESSES;
		const uint32_t before = atomic_load(&counts->steps);
		EVENTUALLY(atomic_load(&counts->steps) - before >= STEPS_PER_KILL);
		atomic_fetch_or(&counts->doomed, 1U << victim);
		kill_child(pids[victim]);
		atomic_fetch_and(&counts->inside, ~(UINT64_C(0xff) << 8 * victim));
		atomic_fetch_add(&counts->births, 1);
		atomic_fetch_and(&counts->doomed, ~(1U << victim));
		pids[victim] = start(victim);
	}
	atomic_store(&counts->stop, true);
	end(pids);
}
