/* SPDX-License-Identifier: MIT */
/*
 * The identity of the calling process: it changes with fork(), and not in threads or with exec. Reading it needs no
 * system call.
 */
#include "support.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"
#include "system/identity.h"
#include "system/proc.h"

static uint32_t
inode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

TEST(the_identity_is_that_of_proc)
{
	struct identity self;
	struct process_stat stat;
	assert_int_equal(identity_get(&self), 0);
	assert_true(process_stat_read("self", NULL, &stat));
	assert_int_equal(self.owner, identity_owner());
	assert_int_equal(owner_kind(self.owner), OWNER_KIND_PROCESS);
	assert_int_equal(owner_pid(self.owner), getpid());
	assert_int_equal(owner_start(self.owner), start_since_boot(stat.start, self.boot_offset));
	assert_int_equal(self.boot_offset, boot_offset_read());
	assert_int_not_equal(stat.start, 0);
	assert_int_equal(self.uid, geteuid());
	assert_int_equal(inode_of("/proc/self/ns/pid"), self.pid_ns);
}

static int
is_not_the_parent(void *arg)
{
	const uint64_t parent = *(const uint64_t *)arg;
	CHECK(identity_owner() != parent);
	CHECK(owner_pid(identity_owner()) == (uint32_t)getpid());
	struct identity self;
	CHECK(identity_get(&self) == 0);
	CHECK(self.owner == identity_owner() && self.pid_ns != 0);
	return 0;
}

static int
is_not_the_parent_nor_its_child(void *arg)
{
	CHECK(is_not_the_parent(arg) == 0);
	uint64_t mine = identity_owner();
	return end_of_child(start_child(is_not_the_parent, &mine));
}

TEST(fork_changes_it)
{
	uint64_t mine = identity_owner();
	assert_int_equal(end_of_child(start_child(is_not_the_parent, &mine)), 0);
	assert_int_equal(end_of_child(start_child(is_not_the_parent_nor_its_child, &mine)), 0);
	assert_int_equal(identity_owner(), mine);
}

/* No handler of pthread_atfork() runs here, so only the kernel clears what is cached. */
TEST(a_fork_without_handlers_changes_it)
{
	uint64_t mine = identity_owner();
#ifdef __s390__ /* the first two arguments are exchanged */
	const long pid = syscall(SYS_clone, NULL, SIGCHLD, NULL, NULL, NULL);
#else
	const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
	assert_true(pid >= 0);
	if (pid == 0)
		syscall(SYS_exit_group,
		        owner_pid(identity_owner()) == (uint32_t)syscall(SYS_getpid) && identity_owner() != mine ? 0 : 1);
	assert_int_equal(end_of_child((pid_t)pid), 0);
}

static void *
owner_of_thread(void *arg)
{
	*(uint64_t *)arg = identity_owner();
	return NULL;
}

TEST(threads_share_it)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	uint64_t seen[THREADS] = {0};
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, owner_of_thread, &seen[i]), 0);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(seen[i], identity_owner());
	}
}

static int
first_use_by_many_threads(void *unused)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	uint64_t seen[THREADS] = {0};
	(void)unused;
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, owner_of_thread, &seen[i]) == 0);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(seen[i] == identity_owner());
	}
	CHECK(owner_pid(identity_owner()) == (uint32_t)getpid());
	return 0;
}

TEST(threads_of_a_child_share_it)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(end_of_child(start_child(first_use_by_many_threads, NULL)), 0);
}

/* The child shares the parent's memory. It must read its own identity, and leave the parent's cached one as it is. */
TEST(a_child_of_vfork_reads_itself)
{
	if (UNDER_THREAD_SANITIZER)
		SKIP("ThreadSanitizer turns vfork() into fork()");
	static struct identity child;
	const uint64_t mine = identity_owner();
	const pid_t pid = vfork();
	if (pid == 0) {
		identity_read(&child);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(end_of_child(pid), 0);
	assert_int_equal(owner_pid(child.owner), pid);
	assert_int_not_equal(child.pid_ns, 0);
	assert_int_equal(identity_owner(), mine);
}

static int
compare_behind_exec(void *unused)
{
	char owner[32];
	(void)unused;
	snprintf(owner, sizeof(owner), "%llx", (unsigned long long)identity_owner());
	execl("/proc/self/exe", "test_identity", "--same-as", owner, (char *)NULL);
	return 1;
}

TEST(exec_does_not_change_it)
{
	assert_int_equal(end_of_child(start_child(compare_behind_exec, NULL)), 0);
}

/* Every madvise() succeeds and does nothing, as in emulators. main() then reads its identity for the first time. */
static int
fork_under_an_emulator(void *unused)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};
	(void)unused;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	execl("/proc/self/exe", "test_identity", "--fork", (char *)NULL);
	return 1;
}

TEST(a_false_promise_to_clear_pages_is_found_out)
{
	const int status = end_of_child(start_child(fork_under_an_emulator, NULL));
	if (status == 77)
		SKIP("seccomp is refused here");
	assert_int_equal(status, 0);
}

/* Strict mode allows read, write, exit and sigreturn only. exit_group, which _exit() calls, is not among them. */
static int
without_system_calls(void *unused)
{
	(void)unused;
	identity_owner();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 77;
	int wrong = 0;
	struct identity self;
	for (int i = 0; i < 1000; i++)
		wrong |= identity_owner() == 0 || identity_get(&self) != 0;
	syscall(SYS_exit, wrong);
	return 1;
}

TEST(the_first_call_makes_the_only_system_calls)
{
	if (UNDER_THREAD_SANITIZER)
		SKIP("ThreadSanitizer makes system calls");
	identity_owner();
	const int status = end_of_child(start_child(without_system_calls, NULL));
	if (status == 77)
		SKIP("seccomp is refused here");
	assert_int_equal(status, 0);
}

TEST(the_command_name_cannot_forge_a_field)
{
	struct process_stat before, after;
	char old[16];
	assert_int_equal(prctl(PR_GET_NAME, old), 0);
	assert_true(process_stat_read("self", NULL, &before));
	assert_int_equal(prctl(PR_SET_NAME, ") Z 1 (x) 9 9"), 0);
	assert_true(process_stat_read("self", NULL, &after));
	assert_int_equal(prctl(PR_SET_NAME, "a b\nc"), 0);
	assert_true(process_stat_read("self", NULL, &after));
	prctl(PR_SET_NAME, old);
	assert_int_equal(after.start, before.start);
	assert_int_equal(after.threads, before.threads);
	assert_int_equal(after.state, 'R');
	assert_false(process_stat_read("0", NULL, &after));
	assert_false(process_stat_read("4194305", NULL, &after));
}

TEST(pids_are_in_decimal)
{
	char text[12];
	pid_to_text(0, text);
	assert_string_equal(text, "0");
	pid_to_text(10, text);
	assert_string_equal(text, "10");
	pid_to_text(INT32_MAX, text);
	assert_string_equal(text, "2147483647");
	pid_to_text(-5, text);
	assert_string_equal(text, "0");
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--same-as") == 0)
		return strtoull(argv[2], NULL, 16) == identity_owner() ? 0 : 1;
	if (argc == 2 && strcmp(argv[1], "--fork") == 0) {
		uint64_t mine = identity_owner();
		return end_of_child(start_child(is_not_the_parent_nor_its_child, &mine));
	}
	return run_all_tests(110);
}
