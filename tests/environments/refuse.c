/* SPDX-License-Identifier: MIT */
/*
 * refuse [--absent] CALL[,CALL]... COMMAND [ARG]...: runs the command where a seccomp filter answers these calls with EPERM,
 * as container runtimes do, or with --absent as a kernel does that does not have them. MADV_WIPEONFORK stands for madvise() with it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"pidfd_open", SYS_pidfd_open}, {"futex_waitv", SYS_futex_waitv}, {"kill", SYS_kill},
	{"openat", SYS_openat},         {"MADV_WIPEONFORK", SYS_madvise},
};

enum {
	CALLS = sizeof(calls) / sizeof(calls[0]),
	PER_CALL = 5,
	FILTER_MAX = PER_CALL * CALLS + 1,
	THIRD_ARGUMENT = offsetof(struct seccomp_data, args) + 2 * 8 + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0),
};

/* Returns the number of the call, or -1. */
static long
find_call(const char *name, size_t length)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)
			return (long)calls[i].number;
	}
	return -1;
}

/* Writes PER_CALL instructions. */
static void
add_call(struct sock_filter *filter, unsigned number, unsigned error)
{
	const struct sock_filter call[PER_CALL] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, THIRD_ARGUMENT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_WIPEONFORK, 0, number == SYS_madvise ? 1 : 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number == SYS_madvise ? EINVAL : error)),
	};
	memcpy(filter, call, sizeof(call));
}

static int
install(struct sock_filter *filter, size_t n)
{
	const struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	struct sock_filter filter[FILTER_MAX];
	size_t n = 0;
	const int absent = argc > 1 && strcmp(argv[1], "--absent") == 0;
	argv += absent;
	if (argc - absent < 3)
		return 2;
	for (const char *at = argv[1]; *at != '\0';) {
		const size_t length = strcspn(at, ",");
		const long number = find_call(at, length);
		if (number < 0 || n + PER_CALL + 1 > FILTER_MAX) {
			fprintf(stderr, "refuse: unknown call '%.*s'\n", (int)length, at);
			return 2;
		}
		add_call(filter + n, (unsigned)number, absent ? ENOSYS : EPERM);
		n += PER_CALL;
		at += length;
		at += *at == ',';
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (install(filter, n) != 0) {
		perror("refuse: seccomp");
		return 3;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
