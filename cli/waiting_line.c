/* SPDX-License-Identifier: MIT */
#include "waiting_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"
#include "reason.h"
#include "self_wait.h"
#include "utf8.h"

static double
seconds_since(uint64_t then_ns)
{
	return (double)(monotonic_ns() - then_ns) / 1e9;
}

/* ---- the text ---- */

enum { TEXT_BYTES_MAX = 864, NAMES_BYTES_MAX = 200, WHICH_BYTES_MAX = NAMES_BYTES_MAX + 8, COLUMNS_MAX_SHOWN = 512 };

/* Empty if it has just ended, or cannot be read. */
static void
describe_reason(tsem *sem, uint32_t wanted, char text[REASON_BYTES_MAX])
{
	struct reason reason;
	struct tsem_stat stat = {.size = sizeof(stat)};
	text[0] = '\0';
	if (reason_of(sem, wanted, &stat, &reason) == 0)
		reason_to_text(&reason, &stat, REASON_FULL, text);
}

/* The library waits for one semaphore after the other, in an order of its own. */
static size_t
find_ours(const struct waiting_line *line)
{
	for (size_t i = 0; line->n > 1 && i < line->n; i++) {
		if (find_place(line->sems[i]) > 0)
			return i;
	}
	return line->at;
}

/* How much room a line has for names. What is cut off ends with "...". */
enum { NAMES_COLUMNS_SHORT = 24, NAMES_COLUMNS_MAX = NAMES_BYTES_MAX };

static void
append_names(char *text, size_t size, const char *names, size_t n, size_t columns)
{
	const size_t length = strlen(text);
	const bool fits = n <= columns;
	snprintf(text + length, size - length, "%.*s%s", (int)(fits ? n : columns - strlen("...")), names,
	         fits ? "" : "...");
}

/* " of NAME" if the wait is for several. */
static void
describe_which(const struct waiting_line *line, size_t columns, char text[WHICH_BYTES_MAX])
{
	size_t length;
	const char *name = name_at(line->o->name, line->at, &length);
	snprintf(text, WHICH_BYTES_MAX, "%s", line->n > 1 ? " of " : "");
	if (line->n > 1)
		append_names(text, WHICH_BYTES_MAX, name, length, columns);
}

/* How much is left out of a line that is too wide. */
enum brevity { EVERYTHING, WITHOUT_QUEUE, SHORT_NAMES };

static void
describe_so(const struct waiting_line *line, uint32_t position, const char *reason, enum brevity brevity,
            char text[TEXT_BYTES_MAX])
{
	char which[WHICH_BYTES_MAX];
	const size_t columns = brevity == SHORT_NAMES ? NAMES_COLUMNS_SHORT : NAMES_COLUMNS_MAX;
	describe_which(line, columns, which);
	snprintf(text, TEXT_BYTES_MAX, "tsem: ");
	append_names(text, TEXT_BYTES_MAX, line->o->name, strlen(line->o->name), columns);
	const size_t length = strlen(text);
	snprintf(text + length, TEXT_BYTES_MAX - length, ": waiting for %.0f s, place %u%s%s%s%s",
	         seconds_since(line->began_ns), position, brevity == EVERYTHING ? " in the queue" : "", which,
	         reason[0] == '\0' ? "" : ", ", reason);
}

/* The reason, and in it the command of the holder, comes last. If it had no room, what says little is left out. */
static void
describe_wait(const struct waiting_line *line, uint32_t position, size_t columns, char text[TEXT_BYTES_MAX])
{
	char reason[REASON_BYTES_MAX];
	enum brevity brevity = EVERYTHING;
	describe_reason(line->sems[line->at], line->o->count, reason);
	describe_so(line, position, reason, brevity, text);
	while (strlen(text) > columns && brevity < SHORT_NAMES)
		describe_so(line, position, reason, ++brevity, text);
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

/* The last column stays free, because it would begin another line, and two more for the ^C that a terminal echoes. */
static size_t
columns_of_text(void)
{
	enum { FREE_COLUMNS = 3 };
	const size_t columns = columns_of_screen();
	return columns > FREE_COLUMNS ? columns - FREE_COLUMNS : 0;
}

/* Overwrites the line with spaces and carriage returns, which every terminal knows. */
static void
show(struct waiting_line *line, const char *text)
{
	char bytes[COLUMNS_MAX_SHOWN + TEXT_BYTES_MAX + 2];
	const size_t columns = columns_of_screen() - 1;
	const size_t fits = length_that_fits(text, columns_of_text());
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
		.sems = sems, .n = n, .o = o, .terminal = !o->quiet && isatty(STDERR_FILENO) == 1, .began_ns = monotonic_ns()};
	line->looked = o->quiet || self_wait_report(sems, n, o, false);
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

/* Whether a waiter shows its line without -v. In a file, the line comes once, so that the file does not grow. */
static bool
is_time_to_show(const struct waiting_line *line, bool on_screen)
{
	enum { SECONDS_UNTIL_SHOWN = 1, SECONDS_UNTIL_PRINTED = 60 };
	if (line->o->quiet || (line->terminal && !on_screen) || (!line->terminal && line->printed))
		return false;
	return seconds_since(line->began_ns) >= (on_screen ? SECONDS_UNTIL_SHOWN : SECONDS_UNTIL_PRINTED);
}

void
waiting_line_renew(struct waiting_line *line, uint32_t position)
{
	char text[TEXT_BYTES_MAX];
	const size_t was_at = line->at;
	if (line->terminal)
		stop_if_requested(line);
	if (!line->looked) /* the permits seemed to be available when the wait began */
		self_wait_report(line->sems, line->n, line->o, true);
	line->looked = true;
	const bool on_screen = line->terminal && is_in_foreground();
	if (!line->o->verbose && !is_time_to_show(line, on_screen))
		return;
	line->at = find_ours(line);
	if (position == 0) /* the library does not look it up for a waiter that is hardly ever told */
		position = find_place(line->sems[line->at]);
	if (!on_screen && line->printed && line->position == position && line->at == was_at)
		return;
	describe_wait(line, position, on_screen ? columns_of_text() : SIZE_MAX, text);
	if (on_screen)
		show(line, text);
	else
		complain(NULL, "%s", text + strlen("tsem: "));
	line->printed = true;
	line->position = position;
}

/* The process has left the queues by now, so only the lack tells which of several semaphores it waited for. */
static size_t
find_lacking(const struct waiting_line *line)
{
	for (size_t i = 0; line->n > 1 && i < line->n; i++) {
		struct tsem_stat stat = {.size = sizeof(stat)};
		if (tsem_stat(line->sems[i], &stat) == 0 && stat.available < line->o->count)
			return i;
	}
	return line->at;
}

static void
explain_failure(struct waiting_line *line)
{
	char which[WHICH_BYTES_MAX];
	char reason[REASON_BYTES_MAX];
	line->at = find_lacking(line);
	describe_which(line, NAMES_COLUMNS_MAX, which);
	describe_reason(line->sems[line->at], line->o->count, reason);
	complain(line->o->name, "not enough permits%s came free in time%s%s", which, reason[0] == '\0' ? "" : ", ", reason);
}

void
waiting_line_finish(struct waiting_line *line, int error)
{
	erase(line);
	if (line->printed && error == 0 && line->o->verbose)
		complain(line->o->name, "admitted after %.1f s", seconds_since(line->began_ns));
	if (error == -ETIMEDOUT && (line->terminal || line->o->verbose))
		explain_failure(line);
	if (line->terminal)
		sigprocmask(SIG_SETMASK, &line->mask, NULL);
}
