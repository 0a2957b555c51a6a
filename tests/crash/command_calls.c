/* SPDX-License-Identifier: MIT */
#include "command_calls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- reading a call, with definitions of linux/ptrace.h, which not every sys/ptrace.h allows beside it ---- */

enum { GET_SYSCALL_INFO = 0x420e, INFO_ENTRY = 1, INFO_EXIT = 2 };

struct syscall_info {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	union {
		struct {
			uint64_t number;
			uint64_t args[6];
		} entry;
		struct {
			int64_t result;
			uint8_t is_error;
		} exit;
		uint64_t room[8];
	} of;
};

bool
call_look(pid_t thread, struct call *call)
{
	struct syscall_info info = {0};
	if (ptrace((int)GET_SYSCALL_INFO, thread, (void *)sizeof(info), &info) <= 0)
		return false;
	call->is_exit = info.op == INFO_EXIT;
	if (call->is_exit) {
		call->result = (long)info.of.exit.result;
		return true;
	}
	call->number = (long)info.of.entry.number;
	memcpy(call->args, info.of.entry.args, sizeof(call->args));
	return info.op == INFO_ENTRY;
}

/* ---- another result ---- */

#if defined(__x86_64__)

bool
calls_may_fail(void)
{
	return true;
}

static void
poke(pid_t thread, size_t offset, long value)
{
	ptrace(PTRACE_POKEUSER, thread, (void *)offset, (void *)value);
}

void
call_skip(pid_t thread)
{
	poke(thread, offsetof(struct user, regs.orig_rax), -1);
}

void
call_fail(pid_t thread, int error)
{
	poke(thread, offsetof(struct user, regs.rax), -(long)error);
}

#elif defined(__aarch64__)

enum { NUMBER_OF_CALL = 0x404 }; /* NT_ARM_SYSTEM_CALL */

bool
calls_may_fail(void)
{
	return true;
}

void
call_skip(pid_t thread)
{
	int none = -1;
	struct iovec vector = {&none, sizeof(none)};
	ptrace(PTRACE_SETREGSET, thread, (void *)NUMBER_OF_CALL, &vector);
}

void
call_fail(pid_t thread, int error)
{
	struct user_regs_struct registers;
	struct iovec vector = {&registers, sizeof(registers)};
	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &vector) != 0)
		return;
	registers.regs[0] = (unsigned long long)-(long long)error;
	ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &vector);
}

#else

bool
calls_may_fail(void)
{
	return false;
}

void
call_skip(pid_t thread)
{
	(void)thread;
}

void
call_fail(pid_t thread, int error)
{
	(void)thread;
	(void)error;
}

#endif

/* ---- the calls ---- */

/*
 * `errors`: errors that the kernel can return although the program is correct. Calls that cannot fail have none.
 * close() has none, because the sweep itself would leave the descriptor open.
 */
struct known_call {
	long number;
	const char *name;
	int path; /* the number of the argument that is a path, plus 1; 0: none */
	int errors[CALL_ERRORS_MAX + 1];
};

#define CALL(name) SYS_##name, #name

/* clang-format off */
static const struct known_call known_calls[] = {
	{CALL(openat), 2, {EMFILE, EACCES, ENOMEM}},
	{CALL(read), 0, {EIO}},
	{CALL(pread64), 0, {EIO, EINTR}},
	{CALL(write), 0, {EIO, ENOSPC}},
	{CALL(pwrite64), 0, {EIO, ENOSPC}},
	{CALL(writev), 0, {EIO, ENOSPC}},
	{CALL(close), 0, {0}},
#ifdef SYS_mmap2
	{CALL(mmap2), 0, {ENOMEM}},
#else
	{CALL(mmap), 0, {ENOMEM}},
#endif
	{CALL(munmap), 0, {0}},
	{CALL(mprotect), 0, {ENOMEM}},
	{CALL(madvise), 0, {EINVAL}},
	{CALL(brk), 0, {0}},
	{CALL(fallocate), 0, {ENOSPC, EINTR, EIO}},
#ifdef SYS_newfstatat
	{CALL(newfstatat), 2, {EACCES, ENOMEM}},
#endif
	{CALL(fstat), 0, {ENOMEM}},
	{CALL(statx), 2, {EACCES, ENOMEM}},
	{CALL(fchmod), 0, {EPERM, EIO}},
	{CALL(linkat), 2, {EPERM, ENOSPC, EACCES}},
	{CALL(unlinkat), 2, {EPERM, EACCES, EIO}},
	{CALL(readlinkat), 2, {EACCES}},
	{CALL(flock), 0, {EAGAIN, EINTR, ENOLCK}},
	{CALL(futex), 0, {EINTR, EAGAIN}},
	{CALL(prlimit64), 0, {EPERM}},
	{CALL(getrandom), 0, {EAGAIN}},
	{CALL(execve), 1, {EACCES, ENOENT, ENOMEM, EIO}},
	{CALL(clone), 0, {EAGAIN, ENOMEM}},
#ifdef SYS_clone3
	{CALL(clone3), 0, {EAGAIN, ENOMEM}},
#endif
#ifdef SYS_pidfd_open
	{CALL(pidfd_open), 0, {EMFILE, EPERM}},
#endif
	{CALL(kill), 0, {EPERM}},
	{CALL(tgkill), 0, {EPERM}},
	{CALL(ppoll), 0, {EINTR}},
	{CALL(rt_sigtimedwait), 0, {EINTR}},
	{CALL(clock_nanosleep), 0, {EINTR}},
	{CALL(getdents64), 0, {EIO, ENOMEM}},
	{CALL(ioctl), 0, {EIO}},
	{CALL(pipe2), 0, {EMFILE, ENFILE}},
	{CALL(socketpair), 0, {EMFILE, ENFILE}},
	{CALL(sendto), 0, {0}},
	{CALL(dup3), 0, {0}},
	{CALL(fcntl), 0, {EMFILE}},
	{CALL(signalfd4), 0, {EMFILE, ENOMEM}},
	{CALL(eventfd2), 0, {EMFILE, ENOMEM}},
	{CALL(inotify_init1), 0, {EMFILE}},
	{CALL(inotify_add_watch), 2, {ENOSPC}},
	{CALL(prctl), 0, {EPERM}},
	{CALL(lseek), 0, {EIO}},
	{CALL(faccessat), 2, {EACCES}},
	{CALL(wait4), 0, {EINTR}},
	{CALL(waitid), 0, {EINTR}},
	{CALL(sched_getaffinity), 0, {EPERM}},
	{CALL(rt_sigaction), 0, {0}},
	{CALL(rt_sigprocmask), 0, {0}},
	{CALL(rt_sigpending), 0, {0}},
	{CALL(set_tid_address), 0, {0}},
	{CALL(set_robust_list), 0, {0}},
	{CALL(getpid), 0, {0}},
	{CALL(getppid), 0, {0}},
	{CALL(gettid), 0, {0}},
	{CALL(getsid), 0, {0}},
	{CALL(setsid), 0, {0}},
	{CALL(getuid), 0, {0}},
	{CALL(geteuid), 0, {0}},
	{CALL(exit), 0, {0}},
	{CALL(exit_group), 0, {0}},
#ifdef SYS_rseq
	{CALL(rseq), 0, {0}},
#endif
#ifdef SYS_arch_prctl
	{CALL(arch_prctl), 0, {0}},
#endif
#ifdef SYS_open
	{CALL(open), 1, {EMFILE, EACCES, ENOMEM}},
	{CALL(stat), 1, {EACCES, ENOMEM}},
	{CALL(link), 1, {EPERM, ENOSPC, EACCES}},
	{CALL(unlink), 1, {EPERM, EACCES, EIO}},
	{CALL(readlink), 1, {EACCES}},
	{CALL(access), 1, {EACCES}},
	{CALL(fork), 0, {EAGAIN, ENOMEM}},
	{CALL(vfork), 0, {EAGAIN, ENOMEM}},
	{CALL(poll), 0, {EINTR}},
	{CALL(pipe), 0, {EMFILE, ENFILE}},
	{CALL(dup2), 0, {0}},
#endif
};
/* clang-format on */

static const struct known_call *
find_call(long number)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++) {
		if (known_calls[i].number == number)
			return &known_calls[i];
	}
	return NULL;
}

const char *
call_name(long number)
{
	const struct known_call *known = find_call(number);
	return known == NULL ? "?" : known->name;
}

/* These errors need a call that waits, wakes, or unlocks. */
static bool
cannot_fail(const struct call *call)
{
	int command;
	switch (call->number) {
	case SYS_futex:
		command = (int)call->args[1] & FUTEX_CMD_MASK;
		return command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET;
	case SYS_flock:
		return (call->args[1] & LOCK_UN) != 0;
	case SYS_fcntl:
		return call->args[1] != F_DUPFD && call->args[1] != F_DUPFD_CLOEXEC;
	case SYS_wait4:
		return (call->args[2] & WNOHANG) != 0;
	case SYS_waitid:
		return (call->args[3] & WNOHANG) != 0;
	case SYS_ppoll:
		return call->args[2] == 0;
#ifdef SYS_poll
	case SYS_poll:
		return call->args[2] == 0;
#endif
	default:
		return false;
	}
}

const int *
call_errors(const struct call *call)
{
	static const int none[1];
	const struct known_call *known = find_call(call->number);
	return known == NULL || cannot_fail(call) ? none : known->errors;
}

bool
call_may_fail(const struct call *call, int error)
{
	for (const int *one = call_errors(call); *one != 0; one++) {
		if (*one == error)
			return !call->is_exit;
	}
	return false;
}

bool
call_is_private(const struct call *call)
{
	static const long numbers[] = {
		SYS_getpid,  SYS_getppid,  SYS_gettid,    SYS_getuid,    SYS_geteuid,           SYS_brk,
		SYS_madvise, SYS_mprotect, SYS_prlimit64, SYS_getrandom, SYS_sched_getaffinity, SYS_rt_sigpending,
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i] == call->number)
			return true;
	}
	return false;
}

bool
call_opens_unnamed(const struct call *call)
{
#ifdef SYS_open
	if (call->number == SYS_open)
		return (call->args[1] & O_TMPFILE) == O_TMPFILE;
#endif
	return call->number == SYS_openat && (call->args[2] & O_TMPFILE) == O_TMPFILE;
}

bool
call_reads_input(const struct call *call)
{
#ifdef SYS_poll
	if (call->number == SYS_poll)
		return !call->is_exit;
#endif
	return !call->is_exit && (call->number == SYS_ppoll || (call->number == SYS_read && call->args[0] == STDIN_FILENO));
}

static void
read_string(pid_t thread, uint64_t address, char text[96])
{
	struct iovec to = {text, 95};
	struct iovec from = {(void *)(uintptr_t)address, 95};
	ssize_t n = process_vm_readv(thread, &to, 1, &from, 1, 0);
	for (size_t size = 95; n < 0 && size > 0; size--) { /* the memory may end with the page */
		from.iov_len = size;
		n = process_vm_readv(thread, &to, 1, &from, 1, 0);
	}
	text[n < 0 ? 0 : n] = '\0';
}

void
call_to_text(pid_t thread, const struct call *call, char text[CALL_TEXT])
{
	const struct known_call *known = find_call(call->number);
	char string[96] = "";
	if (call->is_exit) {
		const bool failed = call->result < 0 && call->result > -4096;
		snprintf(text, CALL_TEXT, "%s = %ld%s%s", call_name(call->number), call->result, failed ? " " : "",
		         failed ? strerror((int)-call->result) : "");
		return;
	}
	if (known != NULL && known->path > 0)
		read_string(thread, call->args[known->path - 1], string);
	snprintf(text, CALL_TEXT, "%s[%ld](%#lx, %#lx, %#lx, %#lx)%s%s", call_name(call->number), call->number,
	         (unsigned long)call->args[0], (unsigned long)call->args[1], (unsigned long)call->args[2],
	         (unsigned long)call->args[3], string[0] == '\0' ? "" : " ", string);
}
