/* SPDX-License-Identifier: MIT */
/*
 * The demonstrations need processes, shared memory and a witness; the patterns need nothing of this. An example that
 * hangs is killed after PATIENCE seconds, and has failed then.
 */
#ifndef CREW_H
#define CREW_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tsem.h>

enum { PATIENCE = 30, CREW_MEMBERS = 64 };

/* Ends the process with status 1 if the condition is false. */
#define CHECK(condition)                                                            \
	do {                                                                            \
		if (!(condition)) {                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                                \
		}                                                                           \
	} while (0)

/* Waits until the condition is true; alarm() ends a process that hangs. */
#define AWAIT(condition)   \
	while (!(condition)) { \
		usleep(200);       \
	}

static char crew_file[64]; /* of the semaphore that has a name */
static pid_t crew_leader;

static inline void
crew_clean_up(void)
{
	if (crew_file[0] != '\0' && getpid() == crew_leader)
		unlink(crew_file);
}

static inline void
crew_out_of_patience(int signal_number)
{
	static const char message[] = "ended by a signal: it took too long, or another process ended it\n";
	crew_clean_up();
	_exit(write(STDERR_FILENO, message, sizeof(message) - 1) < 0 ? 1 : 128 + signal_number);
}

/* Each example calls this first. */
static inline void
crew_begin(void)
{
	crew_leader = getpid();
	atexit(crew_clean_up);
	signal(SIGALRM, crew_out_of_patience);
	signal(SIGTERM, crew_out_of_patience);
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(PATIENCE);
}

/* Returns a name for one semaphore, which vanishes with this process. */
static inline const char *
crew_name(const char *example)
{
	snprintf(crew_file, sizeof(crew_file), "/dev/shm/tsem.%s.%d", example, (int)getpid());
	return strchr(crew_file, '.') + 1;
}

/* Returns zeroed memory that processes share if they are started later. */
static inline void *
shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	return memory;
}

/* Creates a semaphore in shared memory; children use their parent's handle. If `max` is 0, there is no maximum. */
static inline tsem *
shared_semaphore(uint32_t permits, uint32_t max)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = permits, .max = max};
	const size_t size = tsem_size_at(CREW_MEMBERS);
	tsem *sem;
	CHECK(tsem_init_at(shared_memory(size), size, &config, &sem) == 0);
	return sem;
}

static inline struct tsem_stat
stat_of(tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	CHECK(tsem_stat(sem, &stat) == 0);
	return stat;
}

/* Runs body(number) in a child process, which succeeds if the function returns. */
static inline pid_t
start(void (*body)(int number), int number)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(PATIENCE);
		if (getppid() == parent)
			body(number);
		exit(getppid() == parent ? 0 : 1);
	}
	return pid;
}

static inline int
status_of(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Waits for all processes that were started and not waited for. */
static inline void
all_end_well(void)
{
	int status;
	while (wait(&status) > 0)
		CHECK(status == 0);
	CHECK(errno == ECHILD);
}

/* The witness counts how many processes are inside now, and how many were inside at most. */
struct room {
	atomic_uint inside, most;
};

static inline void
enter(struct room *room, unsigned limit)
{
	const unsigned now = atomic_fetch_add(&room->inside, 1) + 1;
	unsigned most = atomic_load(&room->most);
	while (now > most && !atomic_compare_exchange_weak(&room->most, &most, now))
		;
	CHECK(now <= limit);
	sched_yield(); /* lets the others try */
	CHECK(atomic_load(&room->inside) <= limit);
}

static inline void
leave(struct room *room)
{
	atomic_fetch_sub(&room->inside, 1);
}

#endif
