/* SPDX-License-Identifier: MIT */
/*
 * No function is a cancellation point, except for a wait that asks for it. A thread with a pending cancellation calls each function, in situations in which
 * the library opens files, waits, or calls a function of the program. The call must return its usual result, the thread
 * must end where the test wants it to, and all permits must be back.
 */
#include "situations.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- how a situation runs ---- */

struct part {
	const struct situation *situation;
	struct setup *setup;
};

static void *
run_and_end(void *arg)
{
	struct part *part = arg;
	part->setup->as_expected = part->situation->act(part->setup);
	pthread_testcancel();
	return NULL;
}

/* Each situation has a process of its own, because the first call of a process does more than later ones. */
static int
run_in_a_thread(void *arg)
{
	struct part *part = arg;
	struct setup *setup = part->setup;
	pthread_t thread;
	void *result = NULL;
	alarm(60);
	CHECK(pthread_create(&thread, NULL, run_and_end, part) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	setup->cancelled = result == PTHREAD_CANCELED;
	setup->stat.size = sizeof(setup->stat);
	CHECK(tsem_stat(setup->sem, &setup->stat) == 0);
	return 0;
}

static struct setup *
new_setup(const struct situation *situation)
{
	struct setup *setup = shared_memory(sizeof(*setup));
	setup->lock = -1;
	setup->name = fresh_name();
	setup->unused = fresh_name();
	setup->sem = new_semaphore_named(setup->name, 1, 0);
	setup->other = new_semaphore(1, 0);
	situation->arrange(setup);
	return setup;
}

static void
free_setup(struct setup *setup)
{
	for (uint32_t i = 0; i < setup->n; i++)
		kill_child(setup->processes[i]);
	if (setup->lock >= 0)
		close(setup->lock);
	tsem_close(setup->sem);
	tsem_close(setup->other);
	munmap(setup, sizeof(*setup));
}

static void
every_call_returns(void **state)
{
	const struct situation *situation = *state;
	if (UNDER_THREAD_SANITIZER && needs_vfork(situation))
		SKIP("ThreadSanitizer turns vfork() into fork()");
	struct setup *setup = new_setup(situation);
	struct part part = {.situation = situation, .setup = setup};
	const int status = end_of_child(start_child(run_in_a_thread, &part));
	const struct setup seen = *setup;
	free_setup(setup);
	if (!seen.returned)
		fail_msg("the call in line %d did not return (the process ended with %d)", seen.line, status);
	if (!seen.as_expected)
		fail_msg("the call in line %d, or what follows it, was not as expected", seen.line);
	assert_int_equal(status, 0);
	assert_true(seen.cancelled);
	assert_int_equal(seen.stat.held, situation->held);
	assert_int_equal(seen.stat.waiting, 0);
}

/* ---- completeness ---- */

static bool
has_situation(const char *function)
{
	for (size_t i = 0; i < situation_count; i++) {
		if (strcmp(situations[i].function, function) == 0)
			return true;
	}
	return false;
}

TEST(every_function_has_a_situation)
{
	FILE *map = fopen(LIBTSEM_MAP, "re");
	char line[128];
	char function[64], end;
	int functions = 0;
	int forgotten = 0;
	assert_non_null(map);
	while (fgets(line, sizeof(line), map) != NULL) {
		if (sscanf(line, "\t%63[a-z_]%c", function, &end) != 2 || end != ';')
			continue;
		functions++;
		if (has_situation(function))
			continue;
		forgotten++;
		print_message("# %s has no situation\n", function);
	}
	fclose(map);
	assert_int_equal(forgotten, 0);
	assert_true(functions >= 37); /* of the first version */
}

/* ---- a thread is cancelled while it waits ---- */

struct waiting {
	tsem *sem;
	tsem_hold hold;
	_Atomic bool may_release; /* shared with the holder */
	_Atomic int looks;
	_Atomic bool is_back;
	int rc;
};

static int
hold_until_asked(void *arg)
{
	struct waiting *waiting = arg;
	tsem_hold hold;
	CHECK(tsem_acquire(waiting->sem, 1, NULL, &hold) == 0);
	while (!waiting->may_release)
		pause_a_moment();
	CHECK(tsem_release(&hold) == 0);
	return 0;
}

static int
count_look(void *arg, uint32_t position)
{
	(void)position;
	((struct waiting *)arg)->looks++;
	return 0;
}

static void
note_end(void *arg)
{
	((struct waiting *)arg)->is_back = true;
}

static void *
wait_in_queue(void *arg)
{
	struct waiting *waiting = arg;
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = count_look, .arg = waiting};
	pthread_cleanup_push(note_end, waiting);
	waiting->rc = tsem_acquire_wait(waiting->sem, 1, &wait, &waiting->hold);
	pthread_testcancel();
	pthread_cleanup_pop(1);
	return NULL;
}

/* The hold belongs to the process, so another thread can release it. */
TEST(a_cancelled_waiter_keeps_its_place)
{
	struct waiting *waiting = shared_memory(sizeof(*waiting));
	pthread_t thread;
	void *result = NULL;
	waiting->sem = new_semaphore(1, 0);
	waiting->rc = 1;
	const pid_t holder = start_child(hold_until_asked, waiting);
	EVENTUALLY(stat_of(waiting->sem).held == 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_queue, waiting), 0);
	EVENTUALLY(stat_of(waiting->sem).waiting == 1);

	assert_int_equal(pthread_cancel(thread), 0);
	const int looks = waiting->looks;
	EVENTUALLY(waiting->looks > looks || waiting->is_back); /* the waiter has looked for dead owners */
	assert_false(waiting->is_back);
	waiting->may_release = true;
	assert_int_equal(end_of_child(holder), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(waiting->rc, 0);
	assert_int_equal(stat_of(waiting->sem).held, 1);
	assert_int_equal(tsem_release(&waiting->hold), 0);
	expect_at_rest(waiting->sem, 1);
	tsem_close(waiting->sem);
	munmap(waiting, sizeof(*waiting));
}

/* ---- a wait that is a cancellation point ---- */

/* Within a system call, musl on x86_64 cancels a thread without regard to the alignment of its stack. */
#if defined(__x86_64__) && !defined(__GLIBC__)
#define STACK_IS_MISALIGNED true
#else
#define STACK_IS_MISALIGNED false
#endif

static const struct tsem_wait cancelable = {.size = sizeof(cancelable), .flags = TSEM_CANCELABLE};

static void *
take_cancelably(void *sem)
{
	assert_int_equal(tsem_take_wait(sem, 1, &cancelable), 0);
	return sem;
}

static void *
acquire_cancelably(void *sem)
{
	tsem_hold hold;
	assert_int_equal(tsem_acquire_wait(sem, 1, &cancelable, &hold), 0);
	assert_int_equal(tsem_release(&hold), 0);
	return sem;
}

static void *(*const ways[])(void *) = {take_cancelably, acquire_cancelably};

/* The waiter behind moves up. */
TEST(a_cancelled_wait_leaves_the_queue)
{
	if (STACK_IS_MISALIGNED)
		SKIP("musl runs cleanup handlers on a misaligned stack");
	for (size_t i = 0; i < 2; i++) {
		tsem *sem = new_semaphore(1, 0);
		pthread_t thread;
		void *result = NULL;
		assert_int_equal(tsem_take(sem, 1, NULL), 0);
		assert_int_equal(pthread_create(&thread, NULL, ways[i], sem), 0);
		EVENTUALLY(stat_of(sem).waiting == 1);
		const pid_t behind = start_child(take_one, sem);
		EVENTUALLY(stat_of(sem).waiting == 2);
		assert_int_equal(pthread_cancel(thread), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
		assert_int_equal(stat_of(sem).waiting, 1);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		assert_int_equal(end_of_child(behind), 0);
		assert_int_equal(tsem_post(sem, 1, NULL), 0);
		expect_at_rest(sem, 1);
		tsem_close(sem);
	}
}

static _Atomic bool has_taken;

static void *
take_and_say_so(void *sem)
{
	take_cancelably(sem);
	has_taken = true;
	return NULL;
}

/*
 * Either the thread has got the permit, or the permit is there again. What pthread_join() says does not tell: in glibc, a
 * cancellation that comes too late may still change the result of the thread (its bug 12683).
 */
TEST(a_wait_that_is_cancelled_at_the_moment_of_the_post)
{
	enum { ROUNDS = 500 };
	if (STACK_IS_MISALIGNED)
		SKIP("musl runs cleanup handlers on a misaligned stack");
	int cancelled = 0;
	tsem *sem = new_semaphore(0, 0);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;
		has_taken = false;
		assert_int_equal(pthread_create(&thread, NULL, take_and_say_so, sem), 0);
		EVENTUALLY(stat_of(sem).waiting == 1);
		if (i % 2 == 0) {
			assert_int_equal(tsem_post(sem, 1, NULL), 0);
			pthread_cancel(thread);
		} else {
			pthread_cancel(thread);
			assert_int_equal(tsem_post(sem, 1, NULL), 0);
		}
		assert_int_equal(pthread_join(thread, NULL), 0);
		if (!has_taken) {
			cancelled++;
			assert_int_equal(tsem_try_take(sem, 1), 0);
		}
		assert_int_equal(stat_of(sem).available, 0);
		assert_int_equal(stat_of(sem).waiting, 0);
	}
	assert_true(cancelled > 0);
	tsem_close(sem);
}

static void *
take_while_cancelled(void *sem)
{
	pthread_cancel(pthread_self());
	return take_cancelably(sem);
}

TEST(a_pending_cancellation_comes_before_a_permit)
{
	tsem *sem = new_semaphore(1, 0);
	pthread_t thread;
	void *result = NULL;
	assert_int_equal(pthread_create(&thread, NULL, take_while_cancelled, sem), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(no_cancellation_in_several_queues)
{
	tsem *sems[] = {new_semaphore(1, 0), new_semaphore(1, 0)};
	tsem_hold holds[2];
	size_t which;
	assert_int_equal(tsem_acquire_all(sems, 2, &cancelable, holds), -EINVAL);
	assert_int_equal(tsem_acquire_any(sems, 2, &cancelable, holds, &which), -EINVAL);
	tsem_close(sems[0]);
	tsem_close(sems[1]);
}

int
main(void)
{
	enum { SITUATIONS_MAX = 128, NAME_BYTES = 80 };
	static char names[SITUATIONS_MAX][NAME_BYTES];
	for (size_t i = 0; i < situation_count && i < SITUATIONS_MAX; i++) {
		snprintf(names[i], NAME_BYTES, "%s %s", situations[i].function, situations[i].what);
		register_test(names[i], every_call_returns, NULL, NULL, &situations[i], __LINE__);
	}
	return situation_count > SITUATIONS_MAX ? 1 : run_all_tests(110);
}
