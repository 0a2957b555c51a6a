/* SPDX-License-Identifier: MIT */
/* The liveness of real processes: "dead" only when it is certain. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout.h"
#include "system/identity.h"
#include "system/liveness.h"
#include "system/proc.h"

static struct process_stat
stat_of_process(pid_t pid)
{
	char text[12];
	struct process_stat stat = {0};
	pid_to_text(pid, text);
	assert_true(process_stat_read(text, NULL, &stat));
	return stat;
}

/* The process as a record identifies it. */
static struct process_id
owner_of(pid_t pid)
{
	struct identity self;
	assert_int_equal(identity_get(&self), 0);
	return (struct process_id){
		.pid = (uint32_t)pid,
		.start = start_since_boot(stat_of_process(pid).start, self.boot_offset),
		.pid_ns = self.pid_ns,
	};
}

static void
expect(const struct process_id *owner, enum liveness verdict)
{
	errno = 4321;
	assert_int_equal(liveness_judge(owner), verdict);
	assert_int_equal(errno, 4321);
}

TEST(a_child_is_alive_then_dead_as_a_zombie_and_when_reaped)
{
	const pid_t child = start_child(stay_until_killed, NULL);
	const struct process_id owner = owner_of(child);
	expect(&owner, LIVENESS_ALIVE);
	kill(child, SIGSTOP);
	expect(&owner, LIVENESS_ALIVE);
	kill(child, SIGKILL);
	await_zombie(child);
	expect(&owner, LIVENESS_DEAD);
	end_of_child(child);
	expect(&owner, LIVENESS_DEAD);
}

/* Another process, with another start time, has the pid now. */
TEST(a_reused_pid_is_dead)
{
	struct process_id owner = owner_of(getpid());
	const uint64_t start = owner.start;
	for (owner.start = start - 3; owner.start <= start + 3; owner.start++) {
		/* One tick may lie between two looks at the same process, from two time namespaces. */
		const bool same = owner.start >= start - 1 && owner.start <= start + 1;
		expect(&owner, same ? LIVENESS_ALIVE : LIVENESS_DEAD);
	}
}

TEST(without_a_start_time_a_live_pid_is_unknown)
{
	const pid_t child = start_child(stay_until_killed, NULL);
	struct process_id owner = owner_of(child);
	owner.start = 0;
	expect(&owner, LIVENESS_UNKNOWN);
	kill(child, SIGKILL);
	end_of_child(child);
	expect(&owner, LIVENESS_DEAD);
}

TEST(pids_of_another_namespace_are_unknown)
{
	const pid_t child = start_child(stay_until_killed, NULL);
	struct process_id owner = owner_of(child);
	const uint32_t pid_ns = owner.pid_ns;
	kill_child(child);
	expect(&owner, LIVENESS_DEAD);
	owner.pid_ns = pid_ns + 1;
	expect(&owner, LIVENESS_UNKNOWN);
	owner.pid_ns = 0;
	expect(&owner, LIVENESS_UNKNOWN);
	owner.pid_ns = pid_ns;
	owner.pid = 0;
	expect(&owner, LIVENESS_UNKNOWN);
}

static void *
thread_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int
leave_a_thread_behind(void *unused)
{
	pthread_t thread;
	(void)unused;
	if (pthread_create(&thread, NULL, thread_for_ever, NULL) != 0)
		return 1;
	pthread_exit(NULL);
	return 0;
}

/* Its leader has ended and looks like a zombie, but the process goes on, with its holds. */
TEST(a_process_lives_on_in_its_threads)
{
	const pid_t child = start_child(leave_a_thread_behind, NULL);
	EVENTUALLY(stat_of_process(child).state == 'Z');
	struct process_id owner = owner_of(child);
	expect(&owner, LIVENESS_ALIVE);
	const uint64_t start = owner.start;
	owner.start = 0;
	expect(&owner, LIVENESS_UNKNOWN);
	owner.start = start;
	kill(child, SIGKILL);
	await_zombie(child);
	expect(&owner, LIVENESS_DEAD);
	end_of_child(child);
}

/* ---- processes that cannot be examined ---- */

static int
judge_without_descriptors(void *arg)
{
	const struct process_id *owners = arg;
	const struct rlimit none = {0, 0};
	CHECK(liveness_judge(&owners[0]) == LIVENESS_ALIVE);
	CHECK(liveness_judge(&owners[1]) == LIVENESS_DEAD);
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK(liveness_judge(&owners[0]) == LIVENESS_UNKNOWN);
	CHECK(liveness_judge(&owners[1]) == LIVENESS_UNKNOWN); /* a zombie */
	CHECK(liveness_judge(&owners[2]) == LIVENESS_DEAD);    /* a reaped process: needs no descriptor */
	return 0;
}

TEST(without_descriptors_most_processes_are_unknown)
{
	const pid_t alive = start_child(stay_until_killed, NULL);
	const pid_t zombie = start_child(stay_until_killed, NULL);
	const pid_t reaped = start_child(stay_until_killed, NULL);
	struct process_id owners[3] = {owner_of(alive), owner_of(zombie), owner_of(reaped)};
	kill(zombie, SIGKILL);
	await_zombie(zombie);
	kill_child(reaped);
	assert_int_equal(end_of_child(start_child(judge_without_descriptors, owners)), 0);
	end_of_child(zombie);
	kill_child(alive);
}

static int
as_other_user(void *arg)
{
	struct process_id *owner = arg;
	CHECK(setgid(65534) == 0 && setuid(65534) == 0);
	CHECK(kill((pid_t)owner->pid, 0) != 0 && errno == EPERM);
	CHECK(liveness_judge(owner) == LIVENESS_ALIVE);
	owner->start = 0;
	CHECK(liveness_judge(owner) == LIVENESS_UNKNOWN);
	return 0;
}

TEST(a_process_of_another_user_is_alive)
{
	if (geteuid() != 0)
		SKIP("not root: cannot become another user");
	const pid_t child = start_child(stay_until_killed, NULL);
	struct process_id owner = owner_of(child);
	assert_int_equal(end_of_child(start_child(as_other_user, &owner)), 0);
	kill_child(child);
}

enum { REFUSED = 77 };

/* The first process of a new PID namespace, with the /proc of the old one. */
static int
in_a_new_namespace(void *unused)
{
	(void)unused;
	CHECK(getpid() == 1);
	CHECK(!proc_is_trustworthy());
	const pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0)
		return stay_until_killed(NULL);

	struct identity self;
	CHECK(identity_get(&self) == 0);
	/* This /proc has another start time for the pid, so a comparison would call the child dead. */
	struct process_id owner = {.pid = (uint32_t)child, .start = 1, .pid_ns = self.pid_ns};
	CHECK(liveness_judge(&owner) == LIVENESS_UNKNOWN);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(liveness_judge(&owner) == LIVENESS_DEAD);
	return 0;
}

static int
enter_a_new_namespace(void *unused)
{
	if (unshare(CLONE_NEWPID) != 0)
		return REFUSED;
	const pid_t child = fork();
	if (child == 0)
		_exit(in_a_new_namespace(unused));
	int status = 0;
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 250;
}

TEST(a_proc_of_another_namespace_is_ignored)
{
	assert_true(proc_is_trustworthy());
	const int status = end_of_child(start_child(enter_a_new_namespace, NULL));
	if (status == REFUSED)
		SKIP("no new PID namespace allowed here");
	assert_int_equal(status, 0);
}
