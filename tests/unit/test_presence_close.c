/* SPDX-License-Identifier: MIT */
/* Closing a handle whose process has a presence lock. Linked with --wrap=lock_is_taken. */
#include "fixture.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock.h"

static void (*before_the_answer)(void);
static void (*after_the_answer)(void);

int __real_lock_is_taken(const struct segment *segment, const char *name, uint64_t byte);
int __wrap_lock_is_taken(const struct segment *segment, const char *name, uint64_t byte);

/* Other processes run before and after the kernel answers. */
int
__wrap_lock_is_taken(const struct segment *segment, const char *name, uint64_t byte)
{
	void (*const before)(void) = before_the_answer;
	void (*const after)(void) = after_the_answer;
	before_the_answer = after_the_answer = NULL;
	if (before != NULL)
		before();
	const int taken = __real_lock_is_taken(segment, name, byte);
	if (after != NULL)
		after();
	return taken;
}

static int
judge_knows_no_number(const struct process_id *process)
{
	(void)process;
	return LIVENESS_UNKNOWN;
}

/* Every process takes a lock, and no other process knows its number. */
static int
set_up_locks(void **state)
{
	(void)state;
	begin(1);
	STORE_SEQ(&sem->segment.header->mixed_pid_ns, 1);
	platform.judge = judge_knows_no_number;
	return 0;
}

/* ---- a process that does what it is told ---- */

enum { ACQUIRE = 'a', CLOSE = 'c', END = 'e' };

static int sockets[2];

static int
act_as_told(void *unused)
{
	tsem *own = NULL;
	tsem_hold hold;
	char order = 0;
	(void)unused;
	while (order != END) {
		CHECK(read(sockets[1], &order, 1) == 1);
		if (order == ACQUIRE) {
			CHECK(tsem_open(sem_name, 0, &own) == 0);
			CHECK(tsem_acquire(own, 1, NULL, &hold) == 0);
		} else {
			CHECK(tsem_release(&hold) == 0);
			tsem_close(own);
		}
		CHECK(write(sockets[1], &order, 1) == 1);
	}
	return 0;
}

static void
tell(char order)
{
	char answer = 0;
	assert_int_equal(write(sockets[0], &order, 1), 1);
	assert_int_equal(read(sockets[0], &answer, 1), 1);
}

static void
it_closes(void)
{
	tell(CLOSE);
}

static void
it_acquires(void)
{
	tell(ACQUIRE);
}

/* It has the same record and the same owner word as before. */
TEST_WITH(set_up_locks, a_lock_that_is_released_and_taken_again_is_no_death)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const pid_t pid = start_child(act_as_told, NULL);
	close(sockets[1]); /* so that its end is noticed */
	it_acquires();
	before_the_answer = it_closes;
	after_the_answer = it_acquires;
	uint32_t permits = 0;
	assert_int_equal(tsem_recover(sem, &permits), 0);
	assert_int_equal(permits, 0);
	tell(END);
	assert_int_equal(end_of_child(pid), 0);
	close(sockets[0]);
	expect_at_rest(sem, 1);
}

/* ---- a descriptor that the program has closed ---- */

TEST_WITH(set_up_locks, a_process_without_the_descriptor_notices_a_death)
{
	const pid_t holder = start_child(hold_until_killed, sem);
	EVENTUALLY(stat_of(sem).held == 1);
	close(sem->segment.fd);
	uint32_t permits = 0;
	assert_int_equal(tsem_recover(sem, &permits), 0);
	assert_int_equal(permits, 0);
	kill_child(holder);
	assert_int_equal(tsem_recover(sem, &permits), 0);
	assert_int_equal(permits, 1);
}

/* ---- in a child ---- */

enum { PAGES = 64 };

/* The pages of the child are where the parent has its mapping. */
static int
close_beside_own_pages(void *unused)
{
	volatile char *pages[PAGES];
	(void)unused;
	for (int i = 0; i < PAGES; i++) {
		pages[i] = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(pages[i] != MAP_FAILED);
	}
	tsem_close(sem);
	for (int i = 0; i < PAGES; i++)
		*pages[i] = 1;
	return 0;
}

TEST_WITH(set_up_locks, a_child_that_closes_keeps_its_own_mappings)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(end_of_child(start_child(close_beside_own_pages, NULL)), 0);
	assert_int_equal(tsem_release(&hold), 0);
}

static tsem_hold adopted;

static int
adopt_close_and_stay(void *unused)
{
	char byte = 0;
	(void)unused;
	CHECK(tsem_adopt(&adopted) == 0);
	tsem_close(sem);
	CHECK(write(sockets[1], &byte, 1) == 1);
	return read(sockets[1], &byte, 1) == 1 ? 0 : 1;
}

/* It holds by two handles, so that its own byte is locked by two descriptors. The child adopts, and it dies. */
static int
leave_a_child(void *pid)
{
	tsem_hold hold;
	char byte;
	tsem *second = open_semaphore(sem_name);
	CHECK(tsem_set(sem, 2) == 0 && tsem_acquire(sem, 1, NULL, &adopted) == 0);
	CHECK(tsem_acquire(second, 1, NULL, &hold) == 0 && tsem_release(&hold) == 0);
	*(_Atomic pid_t *)pid = fork();
	if (*(_Atomic pid_t *)pid == 0)
		_exit(adopt_close_and_stay(NULL));
	CHECK(read(sockets[0], &byte, 1) == 1);
	return 0;
}

TEST_WITH(set_up_locks, a_child_that_closes_keeps_the_lock_of_its_hold)
{
	char byte = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	_Atomic pid_t *pid = shared_memory(sizeof(*pid));
	assert_int_equal(end_of_child(start_child(leave_a_child, (void *)pid)), 0);
	uint32_t permits = 0;
	assert_int_equal(tsem_recover(sem, &permits), 0);
	assert_int_equal(permits, 0);
	assert_int_equal(write(sockets[0], &byte, 1), 1);
	EVENTUALLY(tsem_recover(sem, &permits) == 0 && stat_of(sem).held == 0);
	close(sockets[0]);
	close(sockets[1]);
}
