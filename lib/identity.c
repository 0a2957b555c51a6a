/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"

struct identity_cache *_Atomic identity_trusted_cache;
static struct identity_cache *_Atomic page; /* the same, also where it is not to be trusted after a fork */

void
pid_to_text(pid_t pid, char text[12])
{
	char digits[12];
	size_t n = 0;
	unsigned value = pid < 0 ? 0 : (unsigned)pid;
	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	for (size_t i = 0; i < n; i++)
		text[i] = digits[n - 1 - i];
	text[n] = '\0';
}

/* Fields are counted from behind the last ')': the command name in front of it may contain anything. */
static bool
parse_stat(char *line, struct process_stat *stat)
{
	enum { STATE = 3, THREADS = 20, START = 22, EXIT_CODE = 52 };
	char *at = strrchr(line, ')');
	if (at == NULL || at[1] != ' ')
		return false;
	at += 2;
	stat->state = *at;
	stat->exited = false;
	for (int field = STATE; field < EXIT_CODE; field++) {
		uint64_t value = 0;
		at = strchr(at, ' ');
		if (at == NULL)
			return field >= START;
		at++;
		for (const char *digit = at; *digit >= '0' && *digit <= '9'; digit++)
			value = value * 10 + (uint64_t)(*digit - '0');
		if (field + 1 == THREADS)
			stat->threads = value;
		else if (field + 1 == START)
			stat->start = value;
		else if (field + 1 == EXIT_CODE)
			stat->exited = stat->state == 'Z' && (value & 0x7f) == 0;
	}
	return true;
}

/*
 * The start of /proc/PID/FILE, with open, read and close only: it must work in signal handlers and after vfork(). By
 * syscall(): libc's functions are cancellation points (see cancellation.h).
 */
static bool
read_proc_file(const char *pid, const char *file, char *text, size_t size)
{
	char path[56] = "/proc/";
	strncat(path, pid, 12);
	strncat(path, file, 32);
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t length = (ssize_t)syscall(SYS_read, fd, text, size - 1);
	const int error = errno;
	syscall(SYS_close, fd);
	errno = error;
	if (length <= 0)
		return false;
	text[length] = '\0';
	return true;
}

bool
process_stat_read(const char *pid, struct process_stat *stat)
{
	char line[1024];
	return read_proc_file(pid, "/stat", line, sizeof(line)) && parse_stat(line, stat);
}

/* What /proc says of thread `tid` of `pid`. */
static bool
thread_stat_read(const char *pid, const char *tid, struct process_stat *stat)
{
	char file[32] = "/task/";
	char line[1024];
	strncat(file, tid, 12);
	strcat(file, "/stat");
	return read_proc_file(pid, file, line, sizeof(line)) && parse_stat(line, stat);
}

bool
process_stat_read_quickly(const char *pid, struct process_stat *stat)
{
	return thread_stat_read(pid, pid, stat);
}

/*
 * Emulators make up what a process reads about itself: QEMU's user mode a start time that nobody else sees, and no
 * threads. What stands there about the first thread they let through; no start time is better than a wrong one.
 */
static bool
read_own_stat(struct process_stat *stat)
{
	char pid[12];
	if (!process_stat_read("self", stat))
		return false;
	pid_to_text(getpid(), pid);
	if (stat->threads == 0 && !thread_stat_read("self", pid, stat))
		stat->start = 0;
	return true;
}

static uint32_t
namespace_of(const char *pid, const char *kind)
{
	char path[48] = "/proc/";
	struct stat st;
	strncat(path, pid, 12);
	strcat(path, "/ns/");
	strncat(path, kind, 8);
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

uint32_t
time_namespace_of(const char *pid)
{
	const uint32_t inode = namespace_of(pid, "time");
	/* Before Linux 5.6 there is but one, and it has no file. */
	return inode == 0 && errno == ENOENT && namespace_of(pid, "pid") != 0 ? 1 : inode;
}

/* Where there is no /proc: Linux knows it since 6.11, and 0 if it does not. */
static uint32_t
pid_namespace_without_proc(void)
{
	uint32_t inode = 0;
#ifdef SYS_pidfd_open
	enum { PIDFD_GET_PID_NAMESPACE_OF_LINUX = _IO(0xff, 5) }; /* from linux/pidfd.h, which is mostly older */
	const int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (process < 0)
		return 0;
	const int namespace = ioctl(process, PIDFD_GET_PID_NAMESPACE_OF_LINUX, 0);
	struct stat st;
	if (namespace >= 0 && fstat(namespace, &st) == 0)
		inode = (uint32_t)st.st_ino;
	if (namespace >= 0)
		syscall(SYS_close, namespace); /* as above */
	syscall(SYS_close, process);
#endif
	return inode;
}

int
identity_read(struct identity *identity)
{
	const int saved = errno;
	int rc = 0;
	struct process_stat stat = {0};
	errno = 0;
	/* Half an identity would differ from the whole one that a later look might find. */
	if (!read_own_stat(&stat) && (errno == EMFILE || errno == ENFILE))
		rc = -errno;
	identity->who = who_owner((uint32_t)getpid(), stat.start);
	identity->pid_ns = namespace_of("self", "pid");
	errno = 0;
	if (identity->pid_ns == 0)
		identity->pid_ns = pid_namespace_without_proc();
	if (identity->pid_ns == 0 && (errno == EMFILE || errno == ENFILE))
		rc = -errno;
	identity->time_ns = time_namespace_of("self");
	identity->uid = geteuid();
	errno = saved;
	return rc;
}

/* "NSpid:" is followed by our pid in the namespace of that /proc and in each one below it. */
static bool
status_says_one_pid(const char *status)
{
	const char *at = strstr(status, "\nNSpid:");
	if (at == NULL)
		return false;
	at += strlen("\nNSpid:");
	at += strspn(at, " \t");
	at += strspn(at, "0123456789");
	return *at == '\n';
}

/*
 * Nonsense first: QEMU's user mode (7.2 at least) says yes to whatever is advised, and does nothing. BoringSSL's
 * fork_detect.c takes the same look.
 */
bool
have_cleared_by_fork(void *memory, size_t size)
{
	return madvise(memory, size, -1) != 0 && madvise(memory, size, MADV_WIPEONFORK) == 0;
}

static struct identity_cache *
create_page(void)
{
	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	const bool cleared_by_fork = have_cleared_by_fork(memory, PAGE_BYTES);

	struct identity_cache *expected = NULL;
	if (!atomic_compare_exchange_strong(&page, &expected, memory)) {
		munmap(memory, PAGE_BYTES);
		return expected;
	}
	/* Before that every look at it costs a getpid(). */
	if (cleared_by_fork)
		atomic_store_explicit(&identity_trusted_cache, memory, memory_order_release);
	return memory;
}

/* The page, its content looked up anew if this process is not the one that filled it. 0 or a negative errno. */
static int
fill_page(struct identity_cache **filled)
{
	struct identity_cache *cache = atomic_load_explicit(&page, memory_order_acquire);
	if (cache == NULL && (cache = create_page()) == NULL)
		return -ENOMEM;
	*filled = cache;
	const uint64_t who = LOAD_ACQ(&cache->who);
	const bool cleared_by_fork = atomic_load_explicit(&identity_trusted_cache, memory_order_relaxed) != NULL;
	if (who != 0 && (cleared_by_fork || who_pid(who) == (uint32_t)getpid()))
		return 0;

	struct identity fresh;
	int rc = identity_read(&fresh);
	if (rc < 0)
		return rc;
	STORE_RLX(&cache->pid_ns, fresh.pid_ns);
	STORE_RLX(&cache->time_ns, fresh.time_ns);
	STORE_RLX(&cache->uid, fresh.uid);
	STORE_RLX(&cache->one_pid, 0);
	STORE_REL(&cache->who, fresh.who);
	return 0;
}

int
identity_prepare(void)
{
	struct identity_cache *cache;
	return fill_page(&cache);
}

uint64_t
identity_who_uncached(void)
{
	struct identity_cache *cache;
	return fill_page(&cache) < 0 ? 0 : LOAD_ACQ(&cache->who);
}

bool
identity_get(struct identity *identity)
{
	struct identity_cache *cache;
	if (fill_page(&cache) < 0)
		return false;
	identity->who = LOAD_ACQ(&cache->who);
	identity->pid_ns = LOAD_RLX(&cache->pid_ns);
	identity->time_ns = LOAD_RLX(&cache->time_ns);
	identity->uid = LOAD_RLX(&cache->uid);
	return true;
}

bool
identity_has_one_pid(void)
{
	enum { UNKNOWN, YES, NO };
	struct identity_cache *cache;
	if (fill_page(&cache) < 0)
		return false;
	if (LOAD_RLX(&cache->one_pid) == UNKNOWN) {
		char status[4096];
		if (!read_proc_file("self", "/status", status, sizeof(status)))
			return false;
		STORE_RLX(&cache->one_pid, status_says_one_pid(status) ? YES : NO);
	}
	return LOAD_RLX(&cache->one_pid) == YES;
}
