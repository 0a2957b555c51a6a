/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utf8.h"

/* Copies what can be shown: separators become spaces, and what is no character becomes '?'. */
static void
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

static size_t
read_file(pid_t pid, const char *file, unsigned char *bytes, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, bytes, size);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

void
process_command(pid_t pid, char *text, size_t size)
{
	unsigned char bytes[4096];
	size_t n = pid > 0 ? read_file(pid, "cmdline", bytes, sizeof(bytes)) : 0;
	if (n == 0 && pid > 0)
		n = read_file(pid, "comm", bytes, sizeof(bytes));
	copy_printable(text, size, bytes, n);
	if (text[0] == '\0')
		snprintf(text, size, "?");
}

void
owner_command(const struct tsem_owner *owner, char *text, size_t size)
{
	const bool known = owner->alive != TSEM_DEAD && !owner->foreign_pid;
	process_command(known ? owner->pid : 0, text, size);
}

/*
 * The name of the program in there may contain anything, so the state is behind the last parenthesis. The first thread's file
 * has the same state; for the whole process's the kernel would add up all threads each time.
 */
bool
process_is_stopped(const struct tsem_owner *owner)
{
	unsigned char stat[512];
	if (owner->alive == TSEM_DEAD || owner->foreign_pid || owner->pid <= 0)
		return false;
	char file[32];
	snprintf(file, sizeof(file), "task/%d/stat", (int)owner->pid);
	const size_t n = read_file(owner->pid, file, stat, sizeof(stat) - 1);
	stat[n] = '\0';
	const char *end = strrchr((const char *)stat, ')');
	return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}
