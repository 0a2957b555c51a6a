/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beside.h"
#include "pid_namespace.h"
#include "protocol/handle.h"
#include "system/platform.h"
#include "trace.h"
#include "worker.h"

enum { RECORDS_FEW = 8 };

static void
name_fixture(pid_t driver, uint32_t capacity, char name[64], char absent[80])
{
	snprintf(name, 64, "sweep.%d.%u", (int)driver, capacity);
	snprintf(absent, 80, "%s.new", name);
}

void
fixture_clean_up_after(pid_t driver)
{
	char name[64];
	char absent[80];
	for (uint32_t capacity = 1; capacity <= CAPACITY_MAX; capacity++) {
		name_fixture(driver, capacity, name, absent);
		tsem_remove(name, TSEM_FORCE);
		tsem_remove(absent, TSEM_FORCE);
		beside_clean_up_after(driver, capacity);
	}
}

void
fixture_open(struct fixture *fixture, uint32_t capacity)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = capacity};
	if (fixture->shared == NULL) {
		fixture->shared = share_memory(sizeof(*fixture->shared));
		fixture->own_memory = share_memory(SEGMENT_BYTES_MIN);
		fixture->before = malloc((BESIDE + 2) * SEGMENT_BYTES_MIN);
		if (fixture->before == NULL)
			abort();
	}
	name_fixture(getpid(), capacity, fixture->name, fixture->absent);
	fixture->capacity = capacity;
	int rc = tsem_create(fixture->name, &config, &fixture->sem);
	if (rc < 0) {
		fprintf(stderr, "cannot create the semaphore: %s\n", strerror(-rc));
		abort();
	}
	beside_open(fixture);
}

void
fixture_close(struct fixture *fixture)
{
	beside_close(fixture);
	if (fixture->sem == NULL)
		return;
	tsem_remove(fixture->name, TSEM_FORCE);
	tsem_close(fixture->sem);
	fixture->sem = NULL;
}

void
fixture_reset_hints(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	STORE_RLX(&header->reserved, RECORDS_FEW);
	STORE_RLX(&header->free_hint, 0);
	STORE_RLX(&header->called, 0);
	for (uint32_t i = 0; i < LOOKS; i++)
		STORE_RLX(&header->looks[i], 0);
	STORE_RLX(&header->abandoned, 0);
	STORE_RLX(&header->pid_ns, 0);
	STORE_RLX(&header->mixed_pid_ns, 0);
	STORE_RLX(&sem->last_try_look, 0);
	for (uint32_t i = 0; i < SLOTS_LOOKED_AT; i++)
		STORE_RLX(&sem->segment.slots[i], 0);
	for (uint32_t i = 0; i < ARRAY_WORDS; i++)
		STORE_RLX(&sem->segment.array[i], 0);
}

void
fixture_reset(struct fixture *fixture)
{
	fixture_reset_hints(fixture->sem);
	beside_reset(fixture);
	memset(fixture->shared, 0, sizeof(*fixture->shared));
}

/* Compares with the copy at `*before`, brings the copy up to date, and moves `*before` behind it. */
static bool
differs(unsigned char **before, const void *now, size_t size)
{
	unsigned char *noted = *before;
	*before += size;
	if (memcmp(noted, now, size) == 0)
		return false;
	memcpy(noted, now, size);
	return true;
}

unsigned
fixture_changes(struct fixture *fixture)
{
	const struct segment *segment = &fixture->sem->segment;
	const size_t head = offsetof(struct header, statistics);
	const size_t notified = offsetof(struct executor, elsewhere);
	unsigned char *before = fixture->before;
	bool change = differs(&before, segment->header, head);
	change = differs(&before, segment->records, PAGE_BYTES) || change;
	change = differs(&before, segment->slots, SLOTS_LOOKED_AT * sizeof(*segment->slots)) || change;
	bool beside = differs(&before, (char *)segment->header + head, RECORDS_OFFSET - head);
	for (int i = 0; i < BESIDE; i++)
		beside = differs(&before, fixture->beside[i]->segment.header, SEGMENT_BYTES_MIN) || beside;
	for (int i = 0; i < 2; i++)
		beside = differs(&before, (char *)&fixture->shared->executors[i] + notified, sizeof(struct executor) - notified)
		         || beside;
	return (change ? NOTE_CHANGE : 0) | (beside ? NOTE_BESIDE : 0);
}

const struct record *
fixture_record_of(const struct fixture *fixture, pid_t pid, enum state_kind *state)
{
	const uint32_t limit = LOAD_ACQ(&fixture->sem->segment.header->reserved);
	for (uint32_t i = 0; i < limit; i++) {
		const struct record *record = record_at(fixture->sem, i);
		if (record == NULL || LOAD_ACQ(&record->owner) == 0 || owner_pid(LOAD_ACQ(&record->owner)) != (uint32_t)pid
		    || owner_kind(LOAD_ACQ(&record->owner)) == OWNER_KIND_ORPHAN)
			continue;
		*state = (enum state_kind)state_kind(LOAD_ACQ(&record->state));
		return record;
	}
	return NULL;
}

/* ---- processes that are not stepped ---- */

static pid_t
start(void)
{
	const pid_t pid = fork();
	if (pid < 0) {
		perror("fork");
		abort();
	}
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* The kernel reaps its orphans. */
static _Noreturn void
be_first(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;)
		pause();
}

pid_t
fixture_fork_contained(void)
{
	static pid_t first; /* it stays as long as the driver */
	if (first == 0 && (first = pid_namespace_fork(0)) == 0)
		be_first();
	return pid_namespace_fork(first);
}

pid_t
fixture_start_other(void)
{
	const pid_t pid = start();
	while (pid == 0)
		pause();
	return pid;
}

void
process_end(pid_t pid)
{
	kill(pid, SIGKILL);
	await_end(pid);
}

/* The library calls this when the waiter is in the queue and about to sleep: the waiter dies there. */
static int
die_when_queued(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)word;
	(void)expected;
	(void)bits;
	(void)until;
	return kill(getpid(), SIGKILL);
}

bool
fixture_leave_dead_process(const struct fixture *fixture, bool zombie, pid_t *pid)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem_hold hold;
	tsem_stat(fixture->sem, &stat);
	*pid = start();
	if (*pid == 0) {
		platform.sleep = die_when_queued;
		if (stat.available == 0 || tsem_try_acquire(fixture->sem, (uint32_t)stat.available, &hold) == 0)
			tsem_acquire(fixture->sem, 1, NULL, &hold);
		_exit(EXIT_FAILURE);
	}
	siginfo_t info = {0};
	while (waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
	}
	if (!zombie) {
		process_end(*pid);
		*pid = 0;
	}
	return info.si_code == CLD_KILLED;
}

/* short, because the driver waits for the bystander */
enum { PAUSE_NS = 50000 };

static void
pause_briefly(void)
{
	const struct timespec pause_for = {.tv_nsec = PAUSE_NS};
	nanosleep(&pause_for, NULL);
}

static int
sleep_briefly(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)word;
	(void)expected;
	(void)bits;
	const uint64_t soon = platform.now() + 2 * PAUSE_NS;
	pause_briefly();
	return until < soon ? -ETIMEDOUT : 0;
}

static _Noreturn void
bystander_main(const struct fixture *fixture)
{
	struct bystander *self = &fixture->shared->bystander;
	tsem_hold hold;
	platform.sleep = sleep_briefly;
	int rc;
	do {
		rc = tsem_acquire(fixture->sem, 1, NULL, &hold);
	} while (rc == -ECANCELED); /* after a cancellation it calls again, behind the others */
	self->notified = rc == 0 && tsem_hold_recovered(&hold);
	atomic_store(&self->result, rc);
	atomic_store(&self->admitted, rc == 0);
	while (!atomic_load(&self->may_go))
		pause_briefly();
	if (rc == 0)
		atomic_store(&self->result, tsem_release(&hold));
	_exit(0);
}

pid_t
fixture_start_bystander(const struct fixture *fixture)
{
	const pid_t pid = start();
	if (pid == 0)
		bystander_main(fixture);
	for (;;) {
		enum state_kind state;
		if (atomic_load(&fixture->shared->bystander.admitted) || process_state(pid) == 'Z'
		    || (fixture_record_of(fixture, pid, &state) != NULL && state == STATE_QUEUED))
			return pid;
		sched_yield();
	}
}
