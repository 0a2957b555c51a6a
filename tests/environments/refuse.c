/* SPDX-License-Identifier: MIT */
/* refuse CALL[,CALL]... COMMAND [ARG]...: runs the command where a seccomp filter answers these calls with EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"pidfd_open", SYS_pidfd_open},
	{"kill", SYS_kill},
	{"openat", SYS_openat},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]), FILTER_MAX = 2 * CALLS + 2 };

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
	if (argc < 3)
		return 2;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (const char *at = argv[1]; *at != '\0';) {
		const size_t length = strcspn(at, ",");
		const long number = find_call(at, length);
		if (number < 0 || n + 3 > FILTER_MAX) {
			fprintf(stderr, "refuse: unknown call '%.*s'\n", (int)length, at);
			return 2;
		}
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
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
