/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utf8.h"

/* Control characters, such as the separators of arguments, become spaces; malformed bytes become '?'. */
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

void
process_command(pid_t pid, char *text, size_t size)
{
	char bytes[4096];
	size_t n = pid > 0 ? read_proc(pid, "cmdline", bytes, sizeof(bytes)) : 0;
	if (n == 0 && pid > 0)
		n = read_proc(pid, "comm", bytes, sizeof(bytes));
	copy_printable(text, size, (const unsigned char *)bytes, n);
	if (text[0] == '\0')
		snprintf(text, size, "?");
}

void
owner_command(const struct tsem_owner *owner, char *text, size_t size)
{
	const bool known = owner->alive != TSEM_DEAD && !owner->foreign_pid;
	process_command(known ? owner->pid : 0, text, size);
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
	if (owner->alive == TSEM_DEAD || owner->foreign_pid || owner->pid <= 0)
		return false;
	/* The first thread's file shows the same state; for the process's file the kernel would add up all threads. */
	snprintf(file, sizeof(file), "task/%d/stat", (int)owner->pid);
	const char *fields = read_proc(owner->pid, file, stat, sizeof(stat)) > 0 ? fields_after_name(stat) : NULL;
	return fields != NULL && fields[0] == ' ' && (fields[1] == 'T' || fields[1] == 't');
}
