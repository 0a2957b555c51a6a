/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "names.h"
#include "suggest.h"
#include "tsem.h"
#include "user.h"
#include "utf8.h"

enum { LINE_BYTES_MAX = 2048 };

/* Escapes control characters and malformed bytes, which might change the terminal or end the line. */
static void
append_printable(char *line, size_t *length, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strlen(text);
	while (left > 0) {
		const size_t well_formed = utf8_length(at, left);
		const size_t step = well_formed == 0 ? 1 : well_formed;
		const bool shown = well_formed > 0 && !utf8_is_control(at);
		if (*length + (shown ? step : 4 * step) + 1 >= LINE_BYTES_MAX)
			return;
		for (size_t i = 0; i < step && !shown; i++)
			*length += (size_t)snprintf(line + *length, 5, "\\x%02x", at[i]);
		if (shown) {
			memcpy(line + *length, at, step);
			*length += step;
		}
		at += step;
		left -= step;
	}
}

static int message_fd = STDERR_FILENO;

void
message_keep_stderr(void)
{
	const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd >= 0)
		message_fd = fd;
}

void
message_use_stderr(void)
{
	if (message_fd != STDERR_FILENO)
		close(message_fd);
	message_fd = STDERR_FILENO;
}

void
write_stderr(const char *bytes, size_t length)
{
	static const struct timespec at_once;
	sigset_t pipe;
	sigset_t old;
	sigset_t pending;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, &old);
	sigpending(&pending);
	/* A single write keeps the lines of jobs that share a terminal or a log apart. */
	if (write(message_fd, bytes, length) < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) != 1)
		sigtimedwait(&pipe, NULL, &at_once);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void
complain_with(const char *name, const char *format, va_list args)
{
	char text[LINE_BYTES_MAX];
	char line[LINE_BYTES_MAX + 1];
	size_t length = 0;
	vsnprintf(text, sizeof(text), format, args);
	append_printable(line, &length, "tsem: ");
	if (name != NULL) {
		append_printable(line, &length, name[0] == '\0' ? "''" : name);
		append_printable(line, &length, ": ");
	}
	append_printable(line, &length, text);
	line[length++] = '\n';
	write_stderr(line, length);
}

void
complain(const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	complain_with(name, format, args);
	va_end(args);
}

static jmp_buf *jump_to;

void
message_jump_to(jmp_buf *next)
{
	jump_to = next;
}

void
end_in_failure(void)
{
	if (jump_to != NULL)
		longjmp(*jump_to, 1);
	exit(EXIT_TSEM_FAILED);
}

void
die(const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	complain_with(name, format, args);
	va_end(args);
	end_in_failure();
}

struct explanation {
	int error;
	const char *text; /* the name of the semaphore replaces NAME */
};

/* Where the command can say more than tsem_strerror(). */
static const struct explanation explanations[] = {
	{EINVAL,
     "not a name (use 1 to 200 letters, digits, '.', '_' or '-', not starting with '.' or '-'; on etcd: etcd:...)"},
	{EEXIST, "it already exists (see 'tsem show NAME'; --exist-ok accepts it)"},
	{EPERM, "it belongs to another user (add --foreign if you trust that user)"},
	{EBUSY,
     "another process is removing it, or has a lease on its file (try again; if that does not help, see fuser(1))"},
};

bool
owner_of(const char *name, struct stat *st)
{
	char path[PATH_MAX];
	const int length = name == NULL ? -1 : snprintf(path, sizeof(path), SHM_PATH_PREFIX "%s", name);
	return length >= 0 && (size_t)length < sizeof(path) && lstat(path, st) == 0;
}

/* EPERM: another user's semaphore. EACCES: the mode. */
static const char *
permission_text(const char *name, const struct stat *st, int error)
{
	static char text[1024];
	char owner[USER_BYTES_MAX];
	const unsigned mode = st->st_mode & 0777;
	user_name(st->st_uid, owner);
	if (error == -EPERM)
		snprintf(text, sizeof(text), "it belongs to %s, another user (add --foreign if you trust that user)", owner);
	else if (st->st_uid == geteuid())
		snprintf(text, sizeof(text),
		         "permission denied: it belongs to %s, and its mode is %04o ('chmod 0600 " SHM_PATH_PREFIX
		         "%s' changes it)",
		         owner, mode, name);
	else
		snprintf(
			text, sizeof(text),
			"permission denied: it belongs to %s, and its mode is %04o (ask %s for 'tsem set -m', or choose another "
			"name)",
			owner, mode, owner);
	return text;
}

static const char *
missing_text(const char *name)
{
	static char text[SUGGESTION_TEXT_MAX + 128];
	char suggestion[SUGGESTION_TEXT_MAX] = "";
	if (access("/dev/shm", F_OK) != 0)
		return "/dev/shm does not exist (mount a tmpfs there)";
	if (name != NULL)
		suggest_name(name, suggestion);
	snprintf(text, sizeof(text), "no such semaphore (%ssee 'tsem list'%s)", suggestion,
	         suggestion[0] != '\0' ? "" : "; 'tsem create' makes one, and so does 'tsem run -j N'");
	return text;
}

/* What follows the last slash may be a name. */
static const char *
path_text(const char *path)
{
	static char text[512];
	const size_t prefix = strlen(SHM_PATH_PREFIX);
	const char *last = strncmp(path, SHM_PATH_PREFIX, prefix) == 0 ? path + prefix : strrchr(path, '/') + 1;
	snprintf(text, sizeof(text), "not a name but a path: a semaphore needs no file (use '%s')",
	         is_name(last, strlen(last)) ? last : "NAME");
	return text;
}

static const char *
fill_in(const char *text, const char *name)
{
	static char filled[512];
	const char *at = strstr(text, "NAME");
	if (at == NULL || name == NULL)
		return text;
	snprintf(filled, sizeof(filled), "%.*s%s%s", (int)(at - text), text, name, at + strlen("NAME"));
	return filled;
}

const char *
error_text(const char *name, int error)
{
	struct stat st;
	if (error == -ENOENT)
		return missing_text(name);
	if (error == -EINVAL && name != NULL && strchr(name, '/') != NULL)
		return path_text(name);
	if ((error == -EPERM || error == -EACCES) && owner_of(name, &st))
		return permission_text(name, &st, error);
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		if (explanations[i].error == -error)
			return fill_in(explanations[i].text, name);
	}
	return fill_in(tsem_strerror(error), name);
}

void
complain_error(const char *name, int error)
{
	if (error == -EMLINK && name != NULL)
		complain(name,
		         "the file has another name, a hard link (find it with 'find /dev/shm -samefile " SHM_PATH_PREFIX
		         "%s', and "
		         "remove the wrong name with 'tsem remove -f' or rm)",
		         name);
	else
		complain(name, "%s", error_text(name, error));
}

void
die_error(const char *name, int error)
{
	complain_error(name, error);
	end_in_failure();
}

bool
is_for_owner(const char *name, int error)
{
	struct stat st;
	const bool denied = error == -EPERM || error == -EACCES;
	return denied && geteuid() != 0 && owner_of(name, &st) && st.st_uid != geteuid();
}

void
die_of_owner(const char *name, const char *what)
{
	char owner[USER_BYTES_MAX] = "another user";
	struct stat st;
	if (owner_of(name, &st))
		user_name(st.st_uid, owner);
	die(name, "it belongs to %s (only that user and root can %s)", owner, what);
}

void
require_stdout(const char *name)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		die(name, "standard output is closed, nothing was done (redirect it to a file or to /dev/null)");
}

static void
flush(const char *name, const char *advice)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		die(name, "cannot write to standard output: %s (%s)", strerror(errno), advice);
}

void
flush_stdout(const char *name)
{
	flush(name, "redirect it elsewhere");
}

void
flush_result(const char *name)
{
	flush(name, "the operation itself is done");
}
