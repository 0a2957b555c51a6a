/* SPDX-License-Identifier: MIT */
/*
 * No system call without contention: the operations run in a process that the kernel kills at any system call. Time
 * stamps come from the vDSO, which is ordinary memory of the process.
 */
#include "support.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REFUSED = 77, ROUNDS = 1000 };

/* Permits only read, write, exit of this thread, and the return from a signal handler from here on. */
static bool
forbid_system_calls(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
}

static int
leave(int wrong)
{
	syscall(SYS_exit, wrong);
	return wrong;
}

static int
take_and_post(void *arg)
{
	int wrong = 0;
	if (!forbid_system_calls())
		return REFUSED;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t previous;
		wrong |= tsem_take(arg, 1, NULL) != 0 || tsem_try_take(arg, 2) != 0;
		wrong |= tsem_post(arg, 3, &previous) != 0;
	}
	return leave(wrong);
}

static int
acquire_and_release(void *arg)
{
	tsem_hold hold;
	/* The first use finds the identity of the process, and a record. */
	int wrong = tsem_acquire(arg, 1, NULL, &hold) != 0 || tsem_release(&hold) != 0;
	if (!forbid_system_calls())
		return REFUSED;
	for (int i = 0; i < ROUNDS; i++) {
		wrong |= tsem_acquire(arg, 2, NULL, &hold) != 0 || tsem_release(&hold) != 0;
		wrong |= tsem_try_acquire(arg, 3, &hold) != 0 || tsem_release(&hold) != 0;
	}
	return leave(wrong);
}

static int
several_holds_at_once(void *arg)
{
	enum { HOLDS = 3 };
	tsem_hold holds[HOLDS];
	int wrong = tsem_acquire(arg, 1, NULL, &holds[0]) != 0 || tsem_release(&holds[0]) != 0;
	if (!forbid_system_calls())
		return REFUSED;
	for (int i = 0; i < ROUNDS; i++) {
		for (size_t j = 0; j < HOLDS; j++)
			wrong |= tsem_acquire(arg, 1, NULL, &holds[j]) != 0;
		for (size_t j = 0; j < HOLDS; j++)
			wrong |= tsem_release(&holds[j]) != 0;
	}
	return leave(wrong);
}

static void
expect_quiet(int (*body)(void *arg))
{
	if (UNDER_THREAD_SANITIZER)
		SKIP("ThreadSanitizer makes system calls");
	tsem *sem = new_semaphore(3, 0);
	const int status = end_of_child(start_child(body, sem));
	tsem_close(sem);
	if (status == REFUSED)
		SKIP("seccomp is refused here");
	assert_int_equal(status, 0); /* 137: the kernel killed it because of a system call */
}

TEST(taking_and_posting_is_quiet)
{
	expect_quiet(take_and_post);
}

TEST(acquiring_and_releasing_is_quiet)
{
	expect_quiet(acquire_and_release);
}

TEST(several_holds_at_once_are_quiet)
{
	expect_quiet(several_holds_at_once);
}
