/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	enum { STATE = 3, THREADS = 20, START = 22 };
	char *at = strrchr(line, ')');
	if (at == NULL || at[1] != ' ')
		return false;
	at += 2;
	stat->state = *at;
	for (int field = STATE; field < START; field++) {
		uint64_t value = 0;
		at = strchr(at, ' ');
		if (at == NULL)
			return false;
		at++;
		for (const char *digit = at; *digit >= '0' && *digit <= '9'; digit++)
			value = value * 10 + (uint64_t)(*digit - '0');
		if (field + 1 == THREADS)
			stat->threads = value;
		else if (field + 1 == START)
			stat->start = value;
	}
	return true;
}

/* Reads with open, read and close only: it must work in signal handlers and after vfork(). */
bool
process_stat_read(const char *pid, struct process_stat *stat)
{
	char path[32] = "/proc/";
	strncat(path, pid, sizeof(path) - 12);
	strcat(path, "/stat");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;

	char line[1024];
	ssize_t length = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (length <= 0)
		return false;
	line[length] = '\0';
	return parse_stat(line, stat);
}

static uint32_t
namespace_inode(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

void
identity_read(struct identity *identity)
{
	const int saved = errno;
	struct process_stat stat = {0};
	process_stat_read("self", &stat);
	identity->who = who_owner((uint32_t)getpid(), stat.start);
	identity->pid_ns = namespace_inode("/proc/self/ns/pid");
	identity->time_ns = namespace_inode("/proc/self/ns/time");
	identity->uid = geteuid();
	errno = saved;
}

static struct identity_cache *
create_page(void)
{
	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	const bool cleared_by_fork = madvise(memory, PAGE_BYTES, MADV_WIPEONFORK) == 0;

	struct identity_cache *expected = NULL;
	if (!atomic_compare_exchange_strong(&page, &expected, memory)) {
		munmap(memory, PAGE_BYTES);
		return expected;
	}
	if (cleared_by_fork)
		atomic_store_explicit(&identity_trusted_cache, memory, memory_order_release);
	return memory;
}

/* The filled page, its content looked up anew if this process is not the one that filled it. */
static struct identity_cache *
filled_page(void)
{
	struct identity_cache *cache = atomic_load_explicit(&page, memory_order_acquire);
	if (cache == NULL && (cache = create_page()) == NULL)
		return NULL;
	const uint64_t who = LOAD_ACQ(&cache->who);
	if (who != 0 && who_pid(who) == (uint32_t)getpid())
		return cache;

	struct identity fresh;
	identity_read(&fresh);
	STORE_RLX(&cache->pid_ns, fresh.pid_ns);
	STORE_RLX(&cache->time_ns, fresh.time_ns);
	STORE_RLX(&cache->uid, fresh.uid);
	STORE_REL(&cache->who, fresh.who);
	return cache;
}

uint64_t
identity_who_uncached(void)
{
	const struct identity_cache *cache = filled_page();
	return cache == NULL ? 0 : LOAD_ACQ(&cache->who);
}

bool
identity_get(struct identity *identity)
{
	const struct identity_cache *cache = filled_page();
	if (cache == NULL)
		return false;
	identity->who = LOAD_ACQ(&cache->who);
	identity->pid_ns = LOAD_RLX(&cache->pid_ns);
	identity->time_ns = LOAD_RLX(&cache->time_ns);
	identity->uid = LOAD_RLX(&cache->uid);
	return true;
}
