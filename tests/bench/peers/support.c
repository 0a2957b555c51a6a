/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, LINE = 64 };

void
die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

void *
shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static size_t
mapping_size(size_t size)
{
	return (size / PAGE + 2) * PAGE;
}

void *
fresh_line(size_t size)
{
	static unsigned turn;
	/* The stride is odd in cache lines, so it visits all 64 places of a page before it returns. */
	const size_t offset = (size_t)(turn++ * 27U % (PAGE / LINE)) * LINE;
	return (char *)shared_memory(mapping_size(size)) + offset;
}

void
fresh_line_free(void *line, size_t size)
{
	const size_t offset = (uintptr_t)line % PAGE;
	munmap((char *)line - offset, mapping_size(size));
}

uint64_t
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

unsigned
cpus(void)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&allowed);
}

void
pin_to(unsigned cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
}

void
futex_wait(atomic_uint *word, unsigned expected, enum scope scope)
{
	const int private = scope == BETWEEN_THREADS ? FUTEX_PRIVATE_FLAG : 0;
	syscall(SYS_futex, word, FUTEX_WAIT | private, expected, NULL, NULL, 0);
}

void
futex_wake(atomic_uint *word, int count, enum scope scope)
{
	const int private = scope == BETWEEN_THREADS ? FUTEX_PRIVATE_FLAG : 0;
	syscall(SYS_futex, word, FUTEX_WAKE | private, count, NULL, NULL, 0);
}
