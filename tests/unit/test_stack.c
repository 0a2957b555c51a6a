/* SPDX-License-Identifier: MIT */
/* The stack that tsem_post() and tsem_release() need, and the judgement of liveness within it: a signal handler has little stack. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "system/identity.h"
#include "system/liveness.h"

/* tsem(3) promises the optimized GIVE_BYTES_MAX for both. Frames are larger without optimization. */
#ifdef __OPTIMIZE__
enum { GIVE_BYTES_MAX = 4096 };
#else
enum { GIVE_BYTES_MAX = 6144 };
#endif
enum { JUDGE_BYTES_MAX = 2048 };

enum { STACK_BYTES = 256 * 1024, PAINT = 0xa5 };

static unsigned char *stack;
static unsigned char *handlers_frame;
static tsem *sem;
static tsem_hold hold;
static struct process_id owner;
static int result;

static void
judge_here(int signal)
{
	unsigned char here;
	(void)signal;
	handlers_frame = &here;
	result = liveness_judge(&owner);
}

static void
post_here(int signal)
{
	unsigned char here;
	(void)signal;
	handlers_frame = &here;
	result = tsem_post(sem, 2, NULL);
}

static void
release_here(int signal)
{
	unsigned char here;
	(void)signal;
	handlers_frame = &here;
	result = tsem_release(&hold);
}

/* Children inherit this, except for the alternate stack, which each process has to set itself. */
static void
prepare_stack(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack = shared_memory(STACK_BYTES);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

/* The stack used by the functions that the handler calls. */
static size_t
stack_of_handler(void)
{
	const stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES};
	sigaltstack(&alternate, NULL);
	memset(stack, PAINT, STACK_BYTES);
	raise(SIGUSR1);
	size_t untouched = 0;
	while (stack[untouched] == PAINT)
		untouched++;
	return (size_t)(handlers_frame - (stack + untouched));
}

static int
expect_little_stack(size_t most, int expected)
{
	const size_t used = stack_of_handler();
	print_message("# %zu bytes\n", used);
	CHECK(result == expected);
	CHECK(used > 0 && used <= most);
	return 0;
}

/* The child has to read its own identity first. The judgement takes longest with another start time. */
static int
judge_the_parent(void *unused)
{
	(void)unused;
	const uint64_t start = owner.start;
	owner.start = start + 12345;
	CHECK(expect_little_stack(JUDGE_BYTES_MAX, LIVENESS_DEAD) == 0);
	owner.start = start;
	CHECK(expect_little_stack(JUDGE_BYTES_MAX, LIVENESS_ALIVE) == 0);
	owner.start = 0;
	CHECK(expect_little_stack(JUDGE_BYTES_MAX, LIVENESS_UNKNOWN) == 0);
	return 0;
}

TEST(a_judgement_needs_little_stack)
{
	if (UNDER_SANITIZER)
		SKIP("a sanitizer puts more on the stack");
	struct identity self;
	assert_int_equal(identity_get(&self), 0);
	owner = (struct process_id){.pid = (uint32_t)getpid(), .start = owner_start(self.owner), .pid_ns = self.pid_ns};
	prepare_stack(judge_here);
	assert_int_equal(end_of_child(start_child(judge_the_parent, NULL)), 0);
}

static int
wait_in_queue(void *unused)
{
	(void)unused;
	tsem_take(sem, 1, NULL);
	return 1;
}

static int
give_once(void *unused)
{
	(void)unused;
	return expect_little_stack(GIVE_BYTES_MAX, 0);
}

/* The first waiter is dead, which only a look at /proc shows. The second one is an orphan. */
static pid_t
queue_dead_and_orphan(void)
{
	const struct timespec soon = deadline_in(1);
	const pid_t dead = start_child(wait_in_queue, NULL);
	EVENTUALLY(stat_of(sem).waiting == 1);
	assert_int_equal(tsem_take(sem, 1, &soon), -ETIMEDOUT);
	kill(dead, SIGKILL);
	await_zombie(dead);
	return dead;
}

static void
expect_skipped(pid_t dead)
{
	assert_int_equal(stat_of(sem).available, 2);
	assert_int_equal(stat_of(sem).waiting, 0);
	end_of_child(dead);
	tsem_close(sem);
}

TEST(a_post_that_skips_orphans_needs_little_stack)
{
	if (UNDER_SANITIZER)
		SKIP("a sanitizer puts more on the stack");
	sem = new_semaphore(0, 0);
	const pid_t dead = queue_dead_and_orphan();
	prepare_stack(post_here);
	assert_int_equal(end_of_child(start_child(give_once, NULL)), 0);
	expect_skipped(dead);
}

TEST(a_release_that_skips_orphans_needs_little_stack)
{
	if (UNDER_SANITIZER)
		SKIP("a sanitizer puts more on the stack");
	sem = new_semaphore(2, 0);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &hold), 0);
	const pid_t dead = queue_dead_and_orphan();
	prepare_stack(release_here);
	assert_int_equal(give_once(NULL), 0);
	expect_skipped(dead);
}
