/* SPDX-License-Identifier: MIT */
#include "waiting_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"
#include "process.h"
#include "utf8.h"

static double
seconds_since(uint64_t then_ns)
{
	return (double)(monotonic_ns() - then_ns) / 1e9;
}

/* ---- the text ---- */

/* Why the first waiter has to wait. */
struct obstacle {
	struct tsem_stat stat;
	struct tsem_owner holder; /* the oldest */
	unsigned holders;
	uint32_t wanted; /* permits that the first waiter requests */
};

static int
note_owner(const struct tsem_owner *owner, void *arg)
{
	struct obstacle *obstacle = arg;
	if (owner->position != 0) {
		obstacle->wanted = owner->count;
		return 1;
	}
	if (obstacle->holders++ == 0)
		obstacle->holder = *owner;
	return 0;
}

enum { TEXT_BYTES_MAX = 768, OBSTACLE_BYTES_MAX = 288, NAMES_BYTES_MAX = 200, COLUMNS_MAX_SHOWN = 512 };

static void __attribute__((format(printf, 2, 3))) append(char text[OBSTACLE_BYTES_MAX], const char *format, ...)
{
	va_list args;
	const size_t length = strlen(text);
	va_start(args, format);
	vsnprintf(text + length, OBSTACLE_BYTES_MAX - length, format, args);
	va_end(args);
}

/* The case that a release by the holders would not be enough. */
static void
describe_lack(const struct obstacle *obstacle, char text[OBSTACLE_BYTES_MAX])
{
	const struct tsem_stat *stat = &obstacle->stat;
	const bool lowered = stat->capacity < stat->permits;
	if (stat->capacity >= obstacle->wanted)
		return;
	if (lowered && stat->capacity == 0)
		append(text, "drained (raise the capacity with 'tsem set')");
	else if (lowered)
		append(text, "the first in line wants %u permits of %u (raise the capacity with 'tsem set')", obstacle->wanted,
		       stat->capacity);
	else if (obstacle->holders == 0)
		append(text, "not enough permits yet (add some with 'tsem post')");
}

static void
describe_holders(const struct obstacle *obstacle, char text[OBSTACLE_BYTES_MAX])
{
	char command[64];
	const struct tsem_stat *stat = &obstacle->stat;
	owner_command(&obstacle->holder, command, sizeof(command));
	append(text, "%sheld by %d (%s) for %.0f s", text[0] != '\0' ? ", " : "", (int)obstacle->holder.pid, command,
	       (double)obstacle->holder.elapsed_ns / 1e9);
	if (obstacle->holders > 1)
		append(text, " and %u more", obstacle->holders - 1);
	if (stat->held > stat->capacity && stat->capacity > 0 && stat->capacity < stat->permits)
		append(text, ", %" PRIu64 " permits of a capacity of %u", stat->held, stat->capacity);
}

static void
describe_obstacle(tsem *sem, char text[OBSTACLE_BYTES_MAX])
{
	struct obstacle obstacle = {.stat.size = sizeof(obstacle.stat)};
	text[0] = '\0';
	if (tsem_snapshot(sem, &obstacle.stat, note_owner, &obstacle) >= 0)
		describe_lack(&obstacle, text);
	if (obstacle.holders > 0)
		describe_holders(&obstacle, text);
	else if (text[0] == '\0')
		append(text, "no holder is recorded");
}

static int
is_our_place(const struct tsem_owner *owner, void *arg)
{
	(void)arg;
	return owner->position != 0 && owner->pid == getpid() && !owner->foreign_pid;
}

/* The library waits for one semaphore after the other, in an order of its own. */
static size_t
find_ours(const struct waiting_line *line)
{
	for (size_t i = 0; line->n > 1 && i < line->n; i++) {
		if (tsem_owners(line->sems[i], is_our_place, NULL) > 0)
			return i;
	}
	return line->at;
}

static void
describe_wait(const struct waiting_line *line, uint32_t position, char text[TEXT_BYTES_MAX])
{
	char obstacle[OBSTACLE_BYTES_MAX];
	const char *name = line->o->name;
	for (size_t i = 0; i < line->at; i++)
		name += strcspn(name, ",") + 1;
	describe_obstacle(line->sems[line->at], obstacle);
	snprintf(text, TEXT_BYTES_MAX, "tsem: %.*s: waiting for %.0f s, place %u in the queue%s%.*s, %s", NAMES_BYTES_MAX,
	         line->o->name, seconds_since(line->began_ns), position, line->n > 1 ? " of " : "",
	         line->n > 1 ? (int)strcspn(name, ",") : 0, name, obstacle);
}

/* ---- on a terminal ---- */

/*
 * A background job must not overwrite the line of the foreground job. A terminal other than ours has no foreground job.
 */
static bool
is_in_foreground(void)
{
	const pid_t group = tcgetpgrp(STDERR_FILENO);
	return group < 0 || group == getpgrp();
}

static size_t
columns_of_screen(void)
{
	struct winsize size;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col < COLUMNS_MAX_SHOWN ? size.ws_col : COLUMNS_MAX_SHOWN;
}

/* The number of bytes that certainly fit: any character outside ASCII may be two columns wide. */
static size_t
length_that_fits(const char *text, size_t columns)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strlen(text);
	for (size_t used = 0; left > 0;) {
		const size_t length = utf8_length(at, left);
		used += at[0] < 0x80 ? 1 : 2;
		if (length == 0 || used > columns)
			break;
		at += length;
		left -= length;
	}
	return (size_t)((const char *)at - text);
}

/*
 * Overwrites the line with spaces and carriage returns, which every terminal knows. The last column stays free, because
 * it would begin another line, and two more stay free for the ^C that a terminal echoes.
 */
static void
show(struct waiting_line *line, const char *text)
{
	enum { ECHO_COLUMNS = 2 };
	char bytes[COLUMNS_MAX_SHOWN + TEXT_BYTES_MAX + 2];
	const size_t columns = columns_of_screen() - 1;
	const size_t fits = length_that_fits(text, columns > ECHO_COLUMNS ? columns - ECHO_COLUMNS : 0);
	size_t n = 0;
	bytes[n++] = '\r';
	memset(bytes + n, ' ', columns);
	n += columns;
	bytes[n++] = '\r';
	memcpy(bytes + n, text, fits);
	write_stderr(bytes, n + fits);
	line->on_screen = text[0] != '\0';
}

static void
erase(struct waiting_line *line)
{
	if (line->on_screen && is_in_foreground())
		show(line, "");
	line->on_screen = false;
}

/* After Ctrl-Z: erases the line, then stops until the process is continued. */
static void
stop_if_requested(struct waiting_line *line)
{
	sigset_t pending;
	sigset_t stop;
	sigpending(&pending);
	if (sigismember(&pending, SIGTSTP) != 1)
		return;
	erase(line);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

/* ---- the line ---- */

void
waiting_line_begin(struct waiting_line *line, tsem *const sems[], size_t n, const struct options *o)
{
	*line = (struct waiting_line){
		.sems = sems, .n = n, .o = o, .terminal = isatty(STDERR_FILENO) == 1, .began_ns = monotonic_ns()};
	if (!line->terminal)
		return;
	sigset_t stop;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_BLOCK, &stop, &line->mask);
}

uint32_t
waiting_line_every_ms(const struct waiting_line *line)
{
	return line->terminal || line->o->verbose ? 250 : 0;
}

void
waiting_line_renew(struct waiting_line *line, uint32_t position)
{
	char text[TEXT_BYTES_MAX];
	const size_t was_at = line->at;
	if (line->terminal)
		stop_if_requested(line);
	const bool on_screen = line->terminal && is_in_foreground();
	if (!line->o->verbose && (!on_screen || seconds_since(line->began_ns) < 1))
		return;
	line->at = find_ours(line);
	if (!on_screen && line->position == position && line->at == was_at)
		return;
	describe_wait(line, position, text);
	if (on_screen)
		show(line, text);
	else
		complain(NULL, "%s", text + strlen("tsem: "));
	line->printed = true;
	line->position = position;
}

void
waiting_line_finish(struct waiting_line *line, bool admitted)
{
	erase(line);
	if (line->printed && admitted && line->o->verbose)
		complain(line->o->name, "admitted after %.1f s", seconds_since(line->began_ns));
	if (line->terminal)
		sigprocmask(SIG_SETMASK, &line->mask, NULL);
}
