/* SPDX-License-Identifier: MIT */
/*
 * A program that uses sem_open() and knows nothing of tsem. Run with libtsem-posix preloaded and without it, it shows what
 * that changes:
 *
 *     storm order             how many of 30 waiters leave in another order than they came
 *     storm kills N           kills N waiters while posts come: how many posts reach no other waiter
 *     storm mixed SECONDS     processes with threads wait in all ways, post, also in signal handlers, cancel and kill one
 *                             another: whether a permit is lost or there twice
 *     storm held SECONDS      the same with holds (TSEM_POSIX_HOLDS='*'), and each process posts only what it has taken: whether
 *                             exactly all permits are there at the end
 *
 * Status 1: the order was another one, a post was lost, or the count is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
	exit(125);
}

static sem_t *
open_semaphore(void)
{
	char name[64];
	snprintf(name, sizeof(name), "/storm-%d", (int)getpid());
	sem_t *sem = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	if (sem == SEM_FAILED)
		die(name);
	sem_unlink(name);
	return sem;
}

static void *
shared_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

/* A child that dies with this process. */
static pid_t
start(void)
{
	const pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(600);
	}
	return pid;
}

static uint64_t
now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
pause_a_moment(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Whether the process sleeps: in sem_wait(), which is all that it does after it has said that it is there. */
static bool
is_asleep(pid_t pid)
{
	char path[64];
	char line[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	const bool read = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	const char *state = strrchr(line, ')');
	return read && state != NULL && state[2] == 'S';
}

static void
await_sleep(pid_t pid, const _Atomic bool *there)
{
	while (!*there || !is_asleep(pid))
		pause_a_moment();
}

/* ---- order ---- */

/* A permit goes from the first waiter to the next one, while this process takes it and posts it, again and again. */
static int
order(void)
{
	enum { WAITERS = 30 };
	struct {
		_Atomic bool there[WAITERS];
		_Atomic unsigned left;
		unsigned place[WAITERS]; /* at which it left */
	} *shared = shared_memory(sizeof(*shared));
	sem_t *sem = open_semaphore();
	unsigned others = 0;
	for (unsigned i = 0; i < WAITERS; i++) {
		const pid_t pid = start();
		if (pid == 0) {
			shared->there[i] = true;
			sem_wait(sem);
			shared->place[i] = shared->left++;
			sem_post(sem);
			_exit(0);
		}
		await_sleep(pid, &shared->there[i]);
	}
	sem_post(sem);
	while (shared->left < WAITERS) {
		sem_wait(sem);
		sem_post(sem);
	}
	while (wait(NULL) > 0)
		continue;
	for (unsigned i = 0; i < WAITERS; i++)
		others += shared->place[i] != i;
	printf("%u of %d waiters left in another order than they came\n", others, WAITERS);
	return others != 0;
}

/* ---- kills ---- */

enum { CROWD = 40, VICTIMS = 10 };

struct crowd {
	sem_t *sem;
	pid_t pids[CROWD];
	unsigned oldest;
	struct {
		_Atomic bool there[CROWD];
		_Atomic bool took[CROWD];
		_Atomic unsigned taken;
	} * shared;
};

static void
join(struct crowd *crowd, unsigned i)
{
	crowd->shared->there[i] = crowd->shared->took[i] = false;
	crowd->pids[i] = start();
	if (crowd->pids[i] == 0) {
		crowd->shared->there[i] = true;
		while (sem_wait(crowd->sem) != 0)
			continue;
		crowd->shared->took[i] = true;
		crowd->shared->taken++;
		_exit(0);
	}
	await_sleep(crowd->pids[i], &crowd->shared->there[i]);
}

/*
 * All sleep. Each of VICTIMS posts goes to the waiter that came first, and that is killed as soon as it has been posted.
 * `*lost`: permits that are there 3 seconds later, while the others still wait. `*gone`: those that are not there either.
 * They went with a waiter that had just come back from sem_wait().
 */
static void
kill_the_first(struct crowd *crowd, unsigned *lost, unsigned *gone)
{
	const uint64_t deadline = now_ms() + 3000;
	bool killed[CROWD] = {false};
	unsigned left = 0;
	crowd->shared->taken = 0;
	for (unsigned i = 0; i < VICTIMS; i++) {
		const unsigned victim = (crowd->oldest + i) % CROWD;
		killed[victim] = true;
		sem_post(crowd->sem);
		kill(crowd->pids[victim], SIGKILL);
	}
	while (crowd->shared->taken < VICTIMS && now_ms() < deadline)
		pause_a_moment();
	while (sem_trywait(crowd->sem) == 0)
		left++;
	*lost += left;
	*gone += VICTIMS - left - crowd->shared->taken;
	/* In the order in which they came, so that the oldest one is the next one that still waits. */
	unsigned ended = 0;
	for (unsigned i = 0; i < CROWD; i++) {
		const unsigned at = (crowd->oldest + i) % CROWD;
		if (!killed[at] && !crowd->shared->took[at])
			continue;
		waitpid(crowd->pids[at], NULL, 0);
		join(crowd, at);
		ended++;
	}
	crowd->oldest = (crowd->oldest + ended) % CROWD;
}

static int
kills(unsigned wanted)
{
	struct crowd crowd = {.sem = open_semaphore(), .shared = shared_memory(sizeof(*crowd.shared))};
	unsigned done = 0;
	unsigned lost = 0;
	unsigned gone = 0;
	for (unsigned i = 0; i < CROWD; i++)
		join(&crowd, i);
	for (; done < wanted; done += VICTIMS)
		kill_the_first(&crowd, &lost, &gone);
	printf("%u waiters were killed when they were posted: %u posts reached no waiter, %u went with one that had its "
	       "permit\n",
	       done, lost, gone);
	return lost != 0;
}

/* ---- mixed ---- */

enum { PROCESSES = 12, THREADS = 3, PERMITS = 4 };

struct mixed {
	_Atomic uint64_t posted;                     /* counted before the post */
	_Atomic uint64_t taken;                      /* counted after the wait */
	_Atomic bool wants[PROCESSES][THREADS];      /* a wait has begun, and is not counted */
	_Atomic bool posts[PROCESSES][THREADS];      /* a post is counted, and may not have been made */
	_Atomic uint64_t unsure_waits, unsure_posts; /* of killed processes */
};

static struct mixed *mixed;
static bool held;
static _Atomic unsigned owed; /* with `held`: what this process has taken and no thread or handler has begun to post */
static sem_t *sem;
static unsigned process;
static _Thread_local unsigned thread;

/* Async-signal-safe. A handler may interrupt another post of its thread, so the mark is put back as it was. */
static void
post(void)
{
	const bool before = mixed->posts[process][thread];
	mixed->posts[process][thread] = true;
	mixed->posted++;
	if (sem_post(sem) != 0)
		abort();
	if (!before)
		mixed->posts[process][thread] = false;
}

static bool
is_owed(void)
{
	unsigned n = owed;
	while (n > 0 && !atomic_compare_exchange_weak(&owed, &n, n - 1))
		continue;
	return n > 0;
}

static void
handle(int number)
{
	(void)number;
	const int saved = errno;
	if (held ? is_owed() : mixed->posted < mixed->taken + PERMITS)
		post();
	errno = saved;
}

static void
forget_wish(void *unused)
{
	(void)unused;
	mixed->wants[process][thread] = false;
}

static int
wait_somehow(unsigned way)
{
	struct timespec deadline;
	const clockid_t clock = way % 2 == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	clock_gettime(clock, &deadline);
	deadline.tv_nsec += (long)(way % 16) * 100000;
	deadline.tv_sec += deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	switch (way / 16 % 4) {
	case 0:
		return sem_trywait(sem);
	case 1:
		return clock == CLOCK_REALTIME ? sem_timedwait(sem, &deadline) : sem_clockwait(sem, clock, &deadline);
	default:
		return sem_wait(sem);
	}
}

/* A cancellation takes effect in the wait only, or before it: then the wait has taken nothing. */
static void *
work(void *arg)
{
	unsigned random_state = (unsigned)getpid() * 31 + (unsigned)(uintptr_t)arg;
	int state;
	thread = (unsigned)(uintptr_t)arg;
	pthread_cleanup_push(forget_wish, NULL);
	for (;;) {
		const unsigned way = (unsigned)rand_r(&random_state);
		mixed->wants[process][thread] = true;
		const int rc = wait_somehow(way);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		if (rc == 0) {
			mixed->taken++;
			owed++;
		}
		mixed->wants[process][thread] = false;
		if (rc == 0 && (!held || is_owed()))
			post();
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

/* Its threads are cancelled and started again, and get signals, until it is killed. */
static _Noreturn void
live(void)
{
	pthread_t threads[THREADS];
	unsigned random_state = (unsigned)getpid();
	const struct sigaction action = {.sa_handler = handle, .sa_flags = getpid() % 2 == 0 ? SA_RESTART : 0};
	sigaction(SIGUSR1, &action, NULL);
	thread = THREADS - 1; /* whose mark the handler uses in this thread */
	for (uintptr_t i = 0; i < THREADS - 1; i++)
		pthread_create(&threads[i], NULL, work, (void *)i); /* NOLINT(performance-no-int-to-ptr) */
	for (;;) {
		const unsigned i = (unsigned)rand_r(&random_state) % (THREADS - 1);
		pause_a_moment();
		if (rand_r(&random_state) % 4 != 0) {
			pthread_kill(threads[i], SIGUSR1);
			continue;
		}
		pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i); /* NOLINT(performance-no-int-to-ptr) */
	}
}

static pid_t
start_process(unsigned i)
{
	const pid_t pid = start();
	process = i;
	if (pid == 0)
		live();
	return pid;
}

/* Marks that a killed process leaves say what it may or may not have done. */
static void
end_process(pid_t pid, unsigned i)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (unsigned t = 0; t < THREADS; t++) {
		mixed->unsure_waits += mixed->wants[i][t];
		mixed->unsure_posts += mixed->posts[i][t];
		mixed->wants[i][t] = mixed->posts[i][t] = false;
	}
}

static int
mix(unsigned seconds)
{
	pid_t pids[PROCESSES];
	const uint64_t deadline = now_ms() + (uint64_t)seconds * 1000;
	uint64_t killed = 0;
	mixed = shared_memory(sizeof(*mixed));
	sem = open_semaphore();
	for (unsigned i = 0; i < PERMITS; i++)
		post();
	mixed->posted = PERMITS;
	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = start_process(i);
	while (now_ms() < deadline) {
		const unsigned i = (unsigned)random() % PROCESSES;
		nanosleep(&(struct timespec){.tv_nsec = random() % 20000000}, NULL);
		end_process(pids[i], i);
		killed++;
		while (!held && mixed->posted < mixed->taken + PERMITS) /* what went with it */
			post();
		pids[i] = start_process(i);
	}
	for (unsigned i = 0; i < PROCESSES; i++)
		end_process(pids[i], i);
	uint64_t left = 0;
	while (sem_trywait(sem) == 0)
		left++;
	/* Of the waits that are unsure, each has taken a permit or not; of the posts, each has been made or not. */
	const uint64_t least = mixed->posted - mixed->unsure_posts;
	const uint64_t taken = mixed->taken + left;
	const bool good = held ? left == PERMITS : taken + mixed->unsure_waits >= least && taken <= mixed->posted;
	printf("%ju permits posted, %ju taken and %ju left, %ju waits and %ju posts unsure, %ju processes killed: %s\n",
	       (uintmax_t)mixed->posted, (uintmax_t)mixed->taken, (uintmax_t)left, (uintmax_t)mixed->unsure_waits,
	       (uintmax_t)mixed->unsure_posts, (uintmax_t)killed, good ? "right" : "WRONG");
	return !good;
}

int
main(int argc, char **argv)
{
	const unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "order") == 0)
		return order();
	if (argc == 3 && strcmp(argv[1], "kills") == 0)
		return kills(n);
	if (argc == 3 && strcmp(argv[1], "mixed") == 0)
		return mix(n);
	held = argc == 3 && strcmp(argv[1], "held") == 0;
	if (held)
		return mix(n);
	fprintf(stderr, "usage: storm order | kills N | mixed SECONDS | held SECONDS\n");
	return 2;
}
