/* SPDX-License-Identifier: MIT */
#include "waiting_line.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "message.h"
#include "process.h"
#include "utf8.h"

static double
seconds_since(const struct timespec *then)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* ---- what it says ---- */

struct holders {
	struct tsem_owner first;
	unsigned n;
};

static int
count_holder(const struct tsem_owner *owner, void *arg)
{
	struct holders *holders = arg;
	if (owner->position != 0)
		return 1;
	if (holders->n++ == 0)
		holders->first = *owner;
	return 0;
}

static void
describe_holders(tsem *sem, char *text, size_t size)
{
	struct holders holders = {.n = 0};
	tsem_owners(sem, count_holder, &holders);
	if (holders.n == 0) {
		snprintf(text, size, "nobody is recorded as holding");
		return;
	}
	char command[64];
	owner_command(&holders.first, command, sizeof(command));
	int length = snprintf(text, size, "held by %d (%s) for %.0f s", (int)holders.first.pid, command,
	                      (double)holders.first.elapsed_ns / 1e9);
	if (holders.n > 1 && length > 0 && (size_t)length < size)
		snprintf(text + length, size - (size_t)length, " and %u more", holders.n - 1);
}

static int
is_our_place(const struct tsem_owner *owner, void *arg)
{
	(void)arg;
	return owner->position != 0 && owner->pid == getpid() && !owner->foreign_pid;
}

/* Of several, one is waited for after the other, in an order that the library knows. */
static size_t
find_ours(const struct waiting_line *line)
{
	for (size_t i = 0; line->n > 1 && i < line->n; i++) {
		if (tsem_owners(line->sems[i], is_our_place, NULL) > 0)
			return i;
	}
	return line->at;
}

enum { TEXT_BYTES_MAX = 640, NAMES_BYTES_MAX = 200, COLUMNS_MAX_SHOWN = 512 };

static void
describe_wait(const struct waiting_line *line, uint32_t position, char text[TEXT_BYTES_MAX])
{
	char holders[160];
	const char *name = line->o->name;
	for (size_t i = 0; i < line->at; i++)
		name += strcspn(name, ",") + 1;
	describe_holders(line->sems[line->at], holders, sizeof(holders));
	snprintf(text, TEXT_BYTES_MAX, "tsem: %.*s: waiting for %.0f s, place %u in the queue%s%.*s, %s", NAMES_BYTES_MAX,
	         line->o->name, seconds_since(&line->began), position, line->n > 1 ? " of " : "",
	         line->n > 1 ? (int)strcspn(name, ",") : 0, name, holders);
}

/* ---- on a terminal ---- */

/* A job in the background must not write over what is in the foreground. Another terminal than our own is nobody else's. */
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

/* How many bytes of it fit for certain: whatever is not ASCII may be two columns wide. */
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
 * In place of what the line says so far. With nothing but spaces and carriage returns, which every terminal knows, and short
 * of the last column, which would begin another line; two more are left for the ^C that a terminal shows.
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
	say(bytes, n + fits);
	line->shown = text[0] != '\0';
}

static void
erase(struct waiting_line *line)
{
	if (line->shown && is_in_foreground())
		show(line, "");
	line->shown = false;
}

/* Ctrl-Z was pressed: first the line goes, then we stop, and are back after fg. */
static void
stop_if_told(struct waiting_line *line)
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

/* ---- from beginning to end ---- */

void
waiting_line_begin(struct waiting_line *line, tsem *const sems[], size_t n, const struct options *o)
{
	*line = (struct waiting_line){.sems = sems, .n = n, .o = o, .terminal = isatty(STDERR_FILENO) == 1};
	clock_gettime(CLOCK_MONOTONIC, &line->began);
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
		stop_if_told(line);
	const bool on_screen = line->terminal && is_in_foreground();
	if (!line->o->verbose && (!on_screen || seconds_since(&line->began) < 1))
		return;
	line->at = find_ours(line);
	if (!on_screen && line->position == position && line->at == was_at)
		return;
	describe_wait(line, position, text);
	if (on_screen)
		show(line, text);
	else
		complain(NULL, "%s", text + strlen("tsem: "));
	line->told = true;
	line->position = position;
}

void
waiting_line_finish(struct waiting_line *line, bool admitted)
{
	erase(line);
	if (line->told && admitted && line->o->verbose)
		complain(line->o->name, "admitted after %.1f s", seconds_since(&line->began));
	if (line->terminal)
		sigprocmask(SIG_SETMASK, &line->mask, NULL);
}
