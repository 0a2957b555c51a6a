/* SPDX-License-Identifier: MIT */
#include "waiting_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "message.h"
#include "monotonic.h"
#include "names.h"
#include "utf8.h"

static double
seconds_since(uint64_t then_ns)
{
	return (double)(monotonic_ns() - then_ns) / 1e9;
}

/* ---- the text ---- */

enum { TEXT_BYTES_MAX = 1152, COLUMNS_MAX_SHOWN = 512, NAME_SHOWN_MAX = 512 };

static void
describe_reason(const struct waiting_line *line, const struct sight *sight, const struct reason_form *form,
                char text[REASON_BYTES_MAX])
{
	char name[NAME_SHOWN_MAX];
	name_at(line->o->name, line->at, name, sizeof(name));
	text[0] = '\0';
	if (sight->known)
		reason_to_text(&sight->reason, &sight->stat, name, form, text);
}

/* How much room a line has for names. What is cut off ends with "...". */
enum { NAMES_COLUMNS_SHORT = 24, NAMES_COLUMNS_MAX = 200 };

static void append(char text[TEXT_BYTES_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
append(char text[TEXT_BYTES_MAX], const char *format, ...)
{
	va_list args;
	const size_t length = strlen(text);
	va_start(args, format);
	vsnprintf(text + length, TEXT_BYTES_MAX - length, format, args);
	va_end(args);
}

static void
append_names(char text[TEXT_BYTES_MAX], const char *names, size_t columns)
{
	const bool fits = strlen(names) <= columns;
	append(text, "%.*s%s", (int)(fits ? columns : columns - strlen("...")), names, fits ? "" : "...");
}

/* " of NAME" if the wait is for several. */
static void
append_which(const struct waiting_line *line, size_t columns, char text[TEXT_BYTES_MAX])
{
	char name[NAME_SHOWN_MAX];
	if (line->n == 1)
		return;
	name_at(line->o->name, line->at, name, sizeof(name));
	append(text, " of ");
	append_names(text, name, columns);
}

/* How a line is made shorter, step by step, until it fits. */
static const struct layout {
	size_t form;   /* of the reason */
	bool is_short; /* after the reason */
	size_t names_columns;
} layouts[] = {
	{0, false, NAMES_COLUMNS_MAX},
	{0, true, NAMES_COLUMNS_MAX},
	{1, true, NAMES_COLUMNS_MAX},
	{2, true, NAMES_COLUMNS_MAX},
	{REASON_FORMS - 1, true, NAMES_COLUMNS_MAX},
	{REASON_FORMS - 1, true, NAMES_COLUMNS_SHORT},
};

enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

/* The reason comes first, because the edge of the screen cuts what comes last. */
static void
lay_out(const struct waiting_line *line, const struct sight *sight, uint32_t position, const struct layout *layout,
        char text[TEXT_BYTES_MAX])
{
	const unsigned long long seconds = (monotonic_ns() - line->began_ns) / NS_PER_SECOND;
	char reason[REASON_BYTES_MAX];
	describe_reason(line, sight, reason_forms[layout->form], reason);
	text[0] = '\0';
	append_names(text, line->o->name, layout->names_columns);
	append(text, ": %s", reason);
	const char *separator = reason[0] == '\0' ? "" : ", ";
	if (line->idle && sight->stat.waiting > 0) {
		append(text, "%s%" PRIu32 " in the queue", separator, sight->stat.waiting);
		separator = ", ";
	} else if (!line->idle && position > 0) {
		append(text, "%splace %" PRIu32, separator, position);
		append_which(line, layout->names_columns, text);
		separator = ", ";
	}
	if (!layout->is_short)
		append(text, "%swaiting", separator);
	if (seconds > 0)
		append(text, "%s%llu s", layout->is_short ? separator : " for ", seconds);
}

static void
describe_wait(const struct waiting_line *line, const struct sight *sight, uint32_t position, size_t columns,
              char text[TEXT_BYTES_MAX])
{
	size_t i = 0;
	do {
		lay_out(line, sight, position, &layouts[i], text);
	} while (strlen(text) > columns && ++i < LAYOUTS);
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
waiting_line_begin(struct waiting_line *line, const struct waiting_source *source, size_t n, const struct options *o,
                   bool idle)
{
	*line = (struct waiting_line){
		.source = source,
		.n = n,
		.o = o,
		.idle = idle,
		.terminal = !o->quiet && isatty(STDERR_FILENO) == 1,
		.began_ns = monotonic_ns(),
	};
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
	return line->terminal || line->o->verbose ? line->source->every_ms : 0;
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

/* A wait for permits has a place, a wait for idleness a number of permits and processes that it waits for. */
static uint32_t
find_position(const struct waiting_line *line, const struct sight *sight)
{
	return line->idle ? (uint32_t)sight->stat.held + sight->stat.waiting : sight->place;
}

void
waiting_line_renew(struct waiting_line *line, uint32_t position)
{
	char text[TEXT_BYTES_MAX];
	const size_t was_at = line->at;
	if (line->terminal)
		stop_if_requested(line);
	const bool on_screen = line->terminal && is_in_foreground();
	if (!line->o->verbose && !is_time_to_show(line, on_screen))
		return;
	struct sight sight = {.place = position};
	line->source->look(line, &sight);
	position = find_position(line, &sight);
	/* This process is about to recover the permits of a dead holder. */
	const bool changed = line->reason != sight.reason.kind && sight.reason.kind != REASON_DEAD;
	if (!on_screen && line->printed && line->position == position && line->at == was_at && !changed)
		return;
	describe_wait(line, &sight, position, on_screen ? columns_of_text() : SIZE_MAX, text);
	if (on_screen)
		show(line, text);
	else
		complain(NULL, "%s", text);
	line->printed = true;
	line->position = position;
	line->reason = sight.reason.kind;
}

void
waiting_line_explain(struct waiting_line *line, int error)
{
	char text[TEXT_BYTES_MAX] = "";
	char reason[REASON_BYTES_MAX];
	struct sight sight = {0};
	line->source->look_back(line, !line->idle && error != -ECANCELED, &sight);
	if (line->idle) {
		append(text, line->o->holders ? "permits are still held" : "permits are still held or waited for");
	} else if (error == -ECANCELED) {
		append(text, "the wait was cancelled");
		append_which(line, NAMES_COLUMNS_MAX, text);
	} else {
		append(text, "not enough permits");
		append_which(line, NAMES_COLUMNS_MAX, text);
		append(text, error == -EAGAIN ? " are free" : " came free in time");
	}
	describe_reason(line, &sight, &reason_full, reason);
	complain(line->o->name, "%s%s%s", text, reason[0] == '\0' ? "" : ", ", reason);
}

void
waiting_line_finish(struct waiting_line *line, int error)
{
	erase(line);
	if (line->printed && error == 0 && line->o->verbose)
		complain(line->o->name, "%s after %.1f s", line->idle ? "idle" : "admitted", seconds_since(line->began_ns));
	if ((error == -ETIMEDOUT || error == -ECANCELED) && !line->o->quiet)
		waiting_line_explain(line, error);
	if (line->terminal)
		sigprocmask(SIG_SETMASK, &line->mask, NULL);
}
