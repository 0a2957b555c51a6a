/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beside.h"
#include "handle.h"
#include "platform.h"
#include "trace.h"

enum { RECORDS_FEW = 8 };

static void
name_scene(pid_t driver, uint32_t capacity, char name[64], char absent[80])
{
	snprintf(name, 64, "sweep.%d.%u", (int)driver, capacity);
	snprintf(absent, 80, "%s.new", name);
}

void
scene_sweep_up(pid_t driver)
{
	char name[64];
	char absent[80];
	for (uint32_t capacity = 1; capacity <= CAPACITY_MAX; capacity++) {
		name_scene(driver, capacity, name, absent);
		tsem_remove(name, TSEM_FORCE);
		tsem_remove(absent, TSEM_FORCE);
		beside_sweep_up(driver, capacity);
	}
}

static void *
share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void
scene_open(struct scene *scene, uint32_t capacity)
{
	const struct tsem_config config = {.size = sizeof(config), .permits = capacity};
	if (scene->shared == NULL) {
		scene->shared = share(sizeof(*scene->shared));
		scene->own_memory = share(SEGMENT_BYTES_MIN);
		scene->before = malloc((BESIDE + 2) * SEGMENT_BYTES_MIN);
		if (scene->before == NULL)
			abort();
	}
	name_scene(getpid(), capacity, scene->name, scene->absent);
	scene->capacity = capacity;
	int rc = tsem_create(scene->name, &config, &scene->sem);
	if (rc < 0) {
		fprintf(stderr, "cannot create the semaphore: %s\n", strerror(-rc));
		abort();
	}
	beside_open(scene);
}

void
scene_close(struct scene *scene)
{
	beside_close(scene);
	if (scene->sem == NULL)
		return;
	tsem_remove(scene->name, TSEM_FORCE);
	tsem_close(scene->sem);
	scene->sem = NULL;
}

void
scene_reset_hints(struct tsem *sem)
{
	struct header *header = sem->segment.header;
	STORE_RLX(&header->reserved, RECORDS_FEW);
	STORE_RLX(&header->free_hint, 0);
	STORE_RLX(&header->scanned, 0);
	STORE_RLX(&header->abandoned, 0);
	STORE_RLX(&sem->tried, 0);
	for (uint32_t i = 0; i < SLOTS_LOOKED_AT; i++)
		STORE_RLX(&sem->segment.slots[i], 0);
	for (uint32_t i = 0; i < ARRAY_WORDS; i++) /* nobody sleeps */
		STORE_RLX(&sem->segment.array[i], 0);
}

void
scene_reset(struct scene *scene)
{
	scene_reset_hints(scene->sem);
	beside_reset(scene);
	memset(scene->shared, 0, sizeof(*scene->shared));
}

/* True if it is not what was noted down at `*before`, which it then is, and which is moved behind it. */
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
scene_changes(struct scene *scene)
{
	const struct segment *segment = &scene->sem->segment;
	const size_t head = offsetof(struct header, statistics);
	const size_t told = offsetof(struct actor, elsewhere);
	unsigned char *before = scene->before;
	bool change = differs(&before, segment->header, head);
	change = differs(&before, segment->records, PAGE_BYTES) || change;
	change = differs(&before, segment->slots, SLOTS_LOOKED_AT * sizeof(*segment->slots)) || change;
	bool beside = differs(&before, (char *)segment->header + head, RECORDS_OFFSET - head);
	for (int i = 0; i < BESIDE; i++)
		beside = differs(&before, scene->beside[i]->segment.header, SEGMENT_BYTES_MIN) || beside;
	for (int i = 0; i < 2; i++)
		beside = differs(&before, (char *)&scene->shared->actors[i] + told, sizeof(struct actor) - told) || beside;
	return (change ? NOTE_CHANGE : 0) | (beside ? NOTE_BESIDE : 0);
}

const struct record *
scene_record_of(const struct scene *scene, pid_t pid, enum state_kind *state)
{
	const uint32_t limit = LOAD_ACQ(&scene->sem->segment.header->reserved);
	for (uint32_t i = 0; i < limit; i++) {
		const struct record *record = record_at(scene->sem, i);
		if (record == NULL || LOAD_ACQ(&record->owner) == 0 || owner_pid(LOAD_ACQ(&record->owner)) != (uint32_t)pid
		    || owner_kind(LOAD_ACQ(&record->owner)) == OWNER_KIND_ORPHAN)
			continue;
		*state = (enum state_kind)state_kind(LOAD_ACQ(&record->state));
		return record;
	}
	return NULL;
}

/* ---- bystanders ---- */

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

pid_t
scene_start_other(void)
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
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

/* Called when the waiter stands in line and is about to sleep: what better moment to die. */
static int
die_in_line(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)word;
	(void)expected;
	(void)bits;
	(void)until;
	return kill(getpid(), SIGKILL);
}

bool
scene_leave_dead(const struct scene *scene, bool zombie, pid_t *pid)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	tsem_hold hold;
	tsem_stat(scene->sem, &stat);
	*pid = start();
	if (*pid == 0) {
		platform.sleep = die_in_line;
		if (stat.available == 0 || tsem_try_acquire(scene->sem, (uint32_t)stat.available, &hold) == 0)
			tsem_acquire(scene->sem, 1, NULL, &hold);
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

/* Short, for the driver waits for what comes of it. */
enum { BREATH_NS = 50000 };

static void
take_breath(void)
{
	const struct timespec breath = {.tv_nsec = BREATH_NS};
	nanosleep(&breath, NULL);
}

static int
nap(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t until)
{
	(void)word;
	(void)expected;
	(void)bits;
	const uint64_t soon = platform.now() + 2 * BREATH_NS;
	take_breath();
	return until < soon ? -ETIMEDOUT : 0;
}

static _Noreturn void
stand_by(const struct scene *scene)
{
	struct bystander *self = &scene->shared->bystander;
	tsem_hold hold;
	platform.sleep = nap;
	int rc;
	do {
		rc = tsem_acquire(scene->sem, 1, NULL, &hold);
	} while (rc == -ECANCELED); /* then it comes again, and waits behind the others */
	self->told = rc == 0 && tsem_hold_recovered(&hold);
	atomic_store(&self->result, rc);
	atomic_store(&self->admitted, rc == 0);
	while (!atomic_load(&self->may_go))
		take_breath();
	if (rc == 0)
		atomic_store(&self->result, tsem_release(&hold));
	_exit(0);
}

pid_t
scene_start_bystander(const struct scene *scene)
{
	const pid_t pid = start();
	if (pid == 0)
		stand_by(scene);
	for (;;) {
		enum state_kind state;
		if (atomic_load(&scene->shared->bystander.admitted) || process_state(pid) == 'Z'
		    || (scene_record_of(scene, pid, &state) != NULL && state == STATE_QUEUED))
			return pid;
		sched_yield();
	}
}
