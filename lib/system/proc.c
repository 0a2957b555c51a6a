/* SPDX-License-Identifier: MIT */
#include "system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout.h"
#include "system/clock.h"

bool
proc_is_ours(void)
{
	char link[16];
	char self[12];
	const ssize_t length = readlink("/proc/self", link, sizeof(link) - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	pid_to_text(getpid(), self);
	return strcmp(link, self) == 0;
}

void
pid_to_text(pid_t pid, char text[12])
{
	unsigned value = pid < 0 ? 0 : (unsigned)pid;
	char *at = &text[11];
	*at = '\0';
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	memmove(text, at, (size_t)(&text[12] - at));
}

/* ---- reading in pieces ---- */

/* Handles the next byte of a file. Returns false if it needs no more. */
typedef bool scan_byte(void *scan, char byte);

/*
 * Scans what follows the first `key`, which begins with the end of the line before; "": the whole file. Returns false,
 * with errno or 0, if /proc/PID/FILE has nothing to read. The pieces fit together, because the kernel makes the content
 * once. This uses syscall() because libc's functions are cancellation points (see cancellation.h).
 */
static bool
scan_file(const char *pid, const char *file, const char *key, scan_byte *scan_next, void *scan)
{
	char path[56] = "/proc/";
	strncat(path, pid, 12);
	strncat(path, file, 32);
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;

	char piece[192];
	ssize_t length;
	size_t matched = key[0] != '\0'; /* of the key: a line begins */
	bool any = false;
	bool more = true;
	errno = 0;
	while (more && (length = (ssize_t)syscall(SYS_read, fd, piece, sizeof(piece))) > 0) {
		any = true;
		for (ssize_t i = 0; more && i < length; i++) {
			if (key[matched] == '\0')
				more = scan_next(scan, piece[i]);
			else
				matched = piece[i] == key[matched] ? matched + 1 : piece[i] == key[0];
		}
	}
	const int error = errno;
	syscall(SYS_close, fd);
	errno = error;
	return any;
}

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* ---- stat ---- */

/* Fields of the line, numbered as in proc(5). */
enum { COMMAND = 2, STATE = 3, THREADS = 20, START = 22, EXIT_CODE = 52 };

struct stat_scan {
	struct process_stat *stat;
	unsigned field; /* 0 before the first ')' */
	unsigned last;  /* the last field that the caller needs */
	uint64_t value;
};

static void
store_field(const struct stat_scan *scan)
{
	struct process_stat *stat = scan->stat;
	if (scan->field == THREADS)
		stat->threads = scan->value;
	else if (scan->field == START)
		stat->start = scan->value;
	else if (scan->field == EXIT_CODE)
		stat->exited = stat->state == 'Z' && WIFEXITED((int)scan->value);
}

/*
 * Counts the fields from the last ')', because the command name before it may contain every byte. The name's 15 bytes
 * cannot look like as many fields as a caller needs, so no name ends the scan.
 */
static bool
scan_stat(void *arg, char byte)
{
	struct stat_scan *scan = arg;
	if (byte == ')') {
		scan->field = COMMAND;
	} else if (scan->field == STATE && byte != ' ') {
		scan->stat->state = byte;
	} else if (scan->field != 0 && (byte == ' ' || byte == '\n')) {
		store_field(scan);
		scan->field++;
		scan->value = 0;
	} else if (is_digit(byte)) {
		scan->value = scan->value * 10 + (uint64_t)(byte - '0');
	}
	return scan->field <= scan->last;
}

bool
process_stat_read(const char *pid, const char *thread, struct process_stat *stat)
{
	struct stat_scan scan = {.stat = stat, .last = thread == NULL ? EXIT_CODE : START};
	char file[32] = "/stat";
	if (thread != NULL) {
		strcpy(file, "/task/");
		strncat(file, thread, 12);
		strcat(file, "/stat");
	}
	stat->exited = false;
	return scan_file(pid, file, "", scan_stat, &scan) && scan.field > START;
}

/* ---- status ---- */

struct pids_scan {
	struct process_pids *pids;
	bool in_number;
};

static bool
scan_pids(void *arg, char byte)
{
	struct pids_scan *scan = arg;
	struct process_pids *pids = scan->pids;
	if (is_digit(byte)) {
		pids->count += !scan->in_number;
		pids->innermost = (scan->in_number ? pids->innermost : 0) * 10 + (uint32_t)(byte - '0');
	}
	scan->in_number = is_digit(byte);
	return byte != '\n';
}

bool
process_pids_read(const char *pid, struct process_pids *pids)
{
	struct pids_scan scan = {.pids = pids};
	*pids = (struct process_pids){0};
	return scan_file(pid, "/status", "\nNSpid:", scan_pids, &scan) && pids->count > 0;
}

/* ---- namespaces ---- */

uint32_t
namespace_of(const char *pid, const char *kind)
{
	char path[48] = "/proc/";
	struct stat st;
	strncat(path, pid, 12);
	strcat(path, "/ns/");
	strncat(path, kind, 20);
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

/* Asks the kernel, which answers since Linux 6.11. */
static uint32_t
pid_namespace_without_proc(void)
{
	uint32_t inode = 0;
#ifdef SYS_pidfd_open
	enum { PIDFD_GET_PID_NAMESPACE_OF_LINUX = _IO(0xff, 5) }; /* in linux/pidfd.h since Linux 6.11 */
	const int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (process < 0)
		return 0;
	const int namespace = ioctl(process, PIDFD_GET_PID_NAMESPACE_OF_LINUX, 0);
	struct stat st;
	if (namespace >= 0 && fstat(namespace, &st) == 0)
		inode = (uint32_t)st.st_ino;
	if (namespace >= 0)
		syscall(SYS_close, namespace);
	syscall(SYS_close, process);
#endif
	return inode;
}

uint32_t
own_pid_namespace(void)
{
	const uint32_t inode = namespace_of("self", "pid");
	errno = 0;
	return inode != 0 ? inode : pid_namespace_without_proc();
}

/* ---- the start of a process ---- */

struct offset_scan {
	size_t n; /* numbers that are complete: first seconds, then nanoseconds */
	uint64_t numbers[2];
	bool in_number;
	bool negative;
};

static bool
scan_offset(void *arg, char byte)
{
	struct offset_scan *scan = arg;
	if (is_digit(byte) && scan->n < 2)
		scan->numbers[scan->n] = scan->numbers[scan->n] * 10 + (uint64_t)(byte - '0');
	else if (byte == '-')
		scan->negative = true;
	scan->n += scan->in_number && !is_digit(byte);
	scan->in_number = is_digit(byte);
	return byte != '\n';
}

/* Linux's PROC_TIME_INIT_INO: the first time namespace, whose clocks have no offset. No other one gets this number. */
#define INITIAL_TIME_NAMESPACE UINT32_C(0xeffffffa)

/*
 * /proc/self/timens_offsets describes the namespace of the first thread's future children: its own, unless it has
 * called unshare(). So the offsets count only if that namespace is also this process's. All threads of a process are in
 * one time namespace, because setns() needs a process with one thread. The calling thread's number therefore serves for
 * the comparison, and can be read also after the first thread has ended.
 */
int64_t
boot_offset_read(void)
{
	const uint32_t ours = namespace_of("thread-self", "time");
	if (ours == INITIAL_TIME_NAMESPACE)
		return 0;

	struct offset_scan scan = {.n = 0};
	errno = 0;
	if (!scan_file("self", "/timens_offsets", "\nboottime ", scan_offset, &scan)) {
		/* Linux before 5.6 has no time namespaces, and so no such file in a /proc that works. */
		const bool none = errno == ENOENT && namespace_of("self", "pid") != 0;
		return none ? 0 : BOOT_OFFSET_UNKNOWN;
	}
	if (scan.n != 2 || ours == 0 || namespace_of("self", "time_for_children") != ours)
		return BOOT_OFFSET_UNKNOWN;
	const uint64_t seconds = scan.negative ? -scan.numbers[0] : scan.numbers[0];
	return (int64_t)(seconds * NS_PER_SECOND + scan.numbers[1]);
}

/*
 * Computes with unsigned nanoseconds modulo 2^64, as the kernel does when it adds the offset: a process may have
 * started before the namespace's clock was at 0.
 */
uint64_t
start_since_boot(uint64_t start, int64_t offset)
{
	if (offset == 0)
		return start_shorten(start);
	const long ticks = sysconf(_SC_CLK_TCK);
	if (offset == BOOT_OFFSET_UNKNOWN || ticks <= 0 || NS_PER_SECOND % (uint64_t)ticks != 0)
		return 0;
	const uint64_t tick = NS_PER_SECOND / (uint64_t)ticks;
	const uint64_t since = start * tick - (uint64_t)offset;
	return since > INT64_MAX ? 0 : start_shorten(since / tick);
}

bool
is_same_start(uint64_t a, uint64_t b)
{
	const uint64_t ahead = start_shorten(a) + START_MASK - start_shorten(b);
	return a != 0 && b != 0 && (ahead + 1) % START_MASK <= 2;
}
