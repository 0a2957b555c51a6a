/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_words.h"
#include "utf8.h"

void
copy_printable(char *text, size_t size, const unsigned char *bytes, size_t n)
{
	size_t out = 0;
	for (size_t i = 0; i < n;) {
		const size_t length = utf8_length(bytes + i, n - i);
		const size_t step = length == 0 ? 1 : length;
		if (out + step >= size)
			break;
		if (length == 0 || utf8_is_control(bytes + i)) {
			text[out++] = length == 0 ? '?' : ' ';
		} else {
			memcpy(text + out, bytes + i, length);
			out += length;
		}
		i += step;
	}
	while (out > 0 && text[out - 1] == ' ')
		out--;
	text[out] = '\0';
}

size_t
read_proc(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	const ssize_t n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

enum { COMMAND_LINE_BYTES_MAX = 4096 };

static size_t
read_command(pid_t pid, char bytes[COMMAND_LINE_BYTES_MAX])
{
	size_t n = pid > 0 ? read_proc(pid, "cmdline", bytes, COMMAND_LINE_BYTES_MAX) : 0;
	if (n == 0 && pid > 0)
		n = read_proc(pid, "comm", bytes, COMMAND_LINE_BYTES_MAX);
	return n;
}

static void
copy_command(char *text, size_t size, const char *bytes, size_t n)
{
	copy_printable(text, size, (const unsigned char *)bytes, n);
	if (text[0] == '\0')
		snprintf(text, size, "?");
}

void
process_command(pid_t pid, char *text, size_t size)
{
	char bytes[COMMAND_LINE_BYTES_MAX];
	const size_t n = read_command(pid, bytes);
	copy_command(text, size, bytes, n);
}

/* Looks once: a table asks for each row, and neither /proc nor the namespace of a process changes. */
bool
proc_has_our_numbers(void)
{
	static bool looked;
	static bool ours;
	char link[16] = "";
	char self[16];
	if (!looked) {
		snprintf(self, sizeof(self), "%d", (int)getpid());
		ours = readlink("/proc/self", link, sizeof(link) - 1) > 0 && strcmp(link, self) == 0;
		looked = true;
	}
	return ours;
}

/* 0: /proc would tell about another process, or none. */
static pid_t
known_pid(const struct tsem_owner *owner)
{
	return owner->alive != TSEM_DEAD && proc_has_our_numbers() ? owner->pid_here : 0;
}

void
owner_command(const struct tsem_owner *owner, char *text, size_t size)
{
	process_command(known_pid(owner), text, size);
}

void
process_task(pid_t pid, char *text, size_t size)
{
	char bytes[COMMAND_LINE_BYTES_MAX];
	const char *words = bytes;
	size_t n = read_command(pid, bytes);
	if (n > 0)
		skip_run_words(&words, &n);
	copy_command(text, size, words, n);
}

void
owner_task(const struct tsem_owner *owner, char *text, size_t size)
{
	process_task(known_pid(owner), text, size);
}

/* The name may contain any byte, so the last parenthesis ends it. */
const char *
fields_after_name(const char *stat)
{
	const char *end = strrchr(stat, ')');
	return end == NULL ? NULL : end + 1;
}

bool
process_is_stopped(const struct tsem_owner *owner)
{
	char file[32];
	char stat[512];
	const pid_t pid = known_pid(owner);
	if (pid <= 0)
		return false;
	/* The first thread's file shows the same state; for the process's file the kernel would add up all threads. */
	snprintf(file, sizeof(file), "task/%d/stat", (int)pid);
	const char *fields = read_proc(pid, file, stat, sizeof(stat)) > 0 ? fields_after_name(stat) : NULL;
	return fields != NULL && fields[0] == ' ' && (fields[1] == 'T' || fields[1] == 't');
}

pid_t
process_number(const struct tsem_owner *owner)
{
	return owner->pid_here != 0 || process_is_elsewhere(owner) ? owner->pid_here : owner->pid;
}

bool
process_is_elsewhere(const struct tsem_owner *owner)
{
	/* Without this file, the library cannot know any namespace, and calls every pid foreign. */
	return owner->foreign_pid && access("/proc/self/ns/pid", F_OK) == 0;
}

pid_t
process_parent(pid_t pid)
{
	char stat[512];
	if (pid == getpid())
		return getppid();
	if (!proc_has_our_numbers() || read_proc(pid, "stat", stat, sizeof(stat)) == 0)
		return 0;
	const char *fields = fields_after_name(stat); /* " S 1 ...": the state, the parent */
	return fields == NULL || fields[0] != ' ' || fields[1] == '\0' ? 0 : (pid_t)strtol(fields + 2, NULL, 10);
}
