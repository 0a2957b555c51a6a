/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"
#include "hostile_peer.h"
#include "name.h"
#include "operations.h"
#include "program.h"
#include "segment.h"
#include "system/identity.h"
#include "system/liveness.h"

/*
 * A wait of target_deadline() sleeps no more often than SLEEPS_MAX, because each sleep takes a millisecond. Ten pauses
 * are a backoff, and a whole spin is shorter than the wait. The peer writes in the first calls of an operation only:
 * otherwise an operation that checks every record would take too long.
 */
enum { SLEEPS_MAX = 100, WAIT_MS = 2, PAUSE_NS = 400, ACTS_MAX = 100, RECORDS_PER_ACT = 64 };

static struct hostile_peer *acting; /* in the calls of the fake platform */
static unsigned acts;
static char name[64];
static char path[PATH_BYTES];
static unsigned char good[SEGMENT_BYTES_MIN];

void
broken(const char *state, int64_t value)
{
	fprintf(stderr, "fault: %s: %jd\n", state, (intmax_t)value);
	abort();
}

void
fake_is_stuck(uint64_t sleeps)
{
	broken("an operation goes on sleeping behind its deadline", (int64_t)sleeps);
}

static void
let_peer_act(void)
{
	if (acts++ < ACTS_MAX)
		peer_write_next(acting, RECORDS_PER_ACT);
}

static int
judge_by_pid(const struct process_id *owner)
{
	let_peer_act();
	if (owner->pid == PID_DEAD)
		return LIVENESS_DEAD;
	return owner->pid == PID_ALIVE ? LIVENESS_ALIVE : LIVENESS_UNKNOWN;
}

static void
begin_platform(struct hostile_peer *peer)
{
	fake_begin();
	fake.sleep_lasts = NS_PER_MS;
	fake.sleeps_most = SLEEPS_MAX;
	fake.pause_lasts = PAUSE_NS;
	fake.peer_at_each = let_peer_act;
	platform.judge = judge_by_pid;
	acting = peer;
}

void
target_new_operation(void)
{
	fake.sleeps = 0;
	acts = 0;
}

struct timespec
target_deadline(void)
{
	const uint64_t at = platform.now() + WAIT_MS * NS_PER_MS;
	return (struct timespec){.tv_sec = (time_t)(at / NS_PER_SECOND), .tv_nsec = (long)(at % NS_PER_SECOND)};
}

void
target_name(long pid, char text[64])
{
	const char *first = getenv("TSEM_FUZZ_NAME");
	snprintf(text, 64, "%s.%ld", first != NULL ? first : "fuzz", pid);
}

static void
unlink_file(void)
{
	unlink(path);
}

/* The image of a new semaphore, the same every time: its UUID and time of creation are fixed. */
static void
prepare(void)
{
	struct segment segment;
	const struct segment_config config = {.permits = 2, .max = 0, .mode = 0600};
	target_name(getpid(), name);
	name_to_path(name, path);
	unlink(path);
	if (segment_create(name, &config, &segment) != 0)
		broken("cannot create a segment", errno);
	atexit(unlink_file);
	memset(segment.header->uuid, 0x5a, sizeof(segment.header->uuid));
	segment.header->created = 1700000000;
	segment.header->uid = 0;
	STORE_RLX(&segment.header->pid_ns, 1);
	memcpy(good, segment.header, sizeof(good));
	segment_detach(&segment);
}

/* Gives the file of the semaphore exactly this content. */
static int
write_file(const void *content, size_t size)
{
	unlink(path);
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, content, size) != (ssize_t)size)
		broken("cannot write the segment", errno);
	return fd;
}

static void
begin_writing(int fd, bool big, const struct program *program, struct hostile_peer *peer)
{
	if (big && fallocate(fd, 0, 0, SEGMENT_BYTES_MAX) != 0)
		broken("cannot enlarge the segment", errno);
	void *base = mmap(NULL, SEGMENT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		broken("cannot map the segment", errno);
	*peer = (struct hostile_peer){
		.base = base,
		.records = big ? RECORDS_MAX : RECORDS_PER_PAGE,
		.program = program,
	};
	if (big)
		STORE_RLX(&((struct header *)base)->reserved, RECORDS_MAX);
}

/* The steps before the first operation make the image that is opened. Returns their number. */
static size_t
write_first(struct hostile_peer *peer)
{
	const struct program *program = peer->program;
	size_t i = 0;
	for (; i < program->n && program->steps[i].kind != STEP_OPERATION; i++)
		peer_write(peer, &program->steps[i], RECORDS_MAX);
	return i;
}

static void
run_steps(struct session *session, struct hostile_peer *peer, size_t from)
{
	const struct program *program = peer->program;
	for (size_t i = from; i < program->n; i++) {
		const struct step *step = &program->steps[i];
		if (step->kind == STEP_OPERATION)
			operate(session, step->argument, step->count);
		else
			peer_write(peer, step, RECORDS_MAX);
	}
	/* Runs every other operation once, the removals last. */
	for (size_t i = 0; i < operations_count; i++)
		operate(session, i, 1);
}

static void
run(const struct program *program, struct hostile_peer *peer, size_t from)
{
	struct session session = {.name = name};
	pthread_t thread;
	const bool concurrent = (program->flags & FLAG_PEER) != 0 && program->n > 0;
	const bool fakes = (program->flags & FLAG_REAL) == 0;
	if (fakes)
		begin_platform(peer);
	if (concurrent && pthread_create(&thread, NULL, peer_write_until_stopped, peer) != 0)
		broken("cannot start a thread", errno);

	if (tsem_open(name, (program->flags & FLAG_READ_ONLY) != 0 ? TSEM_READ_ONLY : 0, &session.sem) == 0) {
		run_steps(&session, peer, from);
		tsem_close(session.sem);
	}
	if (concurrent) {
		STORE_RLX(&peer->stop, 1);
		pthread_join(thread, NULL);
	}
	if (fakes)
		fake_end();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program;
	struct hostile_peer peer;
	if (name[0] == '\0')
		prepare();
	if (size == 0)
		return 0;

	program_decode(data, size, &program);
	const bool image = (program.flags & FLAG_IMAGE) != 0;
	int fd = image ? write_file(data + 1, size - 1) : write_file(good, sizeof(good));
	begin_writing(fd, !image && (program.flags & FLAG_BIG) == FLAG_BIG, &program, &peer);
	run(&program, &peer, write_first(&peer));
	munmap(peer.base, SEGMENT_BYTES_MAX);
	close(fd);
	return 0;
}
