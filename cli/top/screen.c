/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/screen.h"

#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"
#include "top/model.h"
#include "top/pen.h"
#include "top/terminal.h"
#include "view/color.h"

/* ---- signals ---- */

/* Delivered only while waiting for keys, so that none comes between a look at it and the sleep. */
static sigset_t outside;
static struct ending ending;

static void
catch_signals(void)
{
	sigset_t held;
	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	sigaddset(&held, SIGTSTP); /* the handler of curses draws, too, and must not come into our drawing */
	ending_add(&held);
	ending_begin(&ending);
	sigprocmask(SIG_BLOCK, &held, &outside);
}

static void
leave_signals(void)
{
	ending_finish(&ending);
	sigprocmask(SIG_SETMASK, &outside, NULL);
}

void
screen_die_of_signal(void)
{
	if (ending_signal() != 0)
		die_of_signal(ending_signal());
}

/* ---- the screen ---- */

static SCREEN *screen;

bool
screen_begin(void)
{
	if (!terminal_can_be_drawn_on())
		return false;
	/* First: curses leaves alone what is caught already. */
	catch_signals();
	screen = newterm(NULL, stdout, stdin);
	if (screen == NULL) {
		leave_signals();
		return false;
	}
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	pen_start(is_colorful());
	return true;
}

void
screen_end(void)
{
	if (screen == NULL)
		return;
	curs_set(1);
	endwin();
	delscreen(screen);
	screen = NULL;
	fflush(stdout);
}

int
screen_wait(uint64_t until_ns)
{
	while (ending_signal() == 0) {
		const int key = getch();
		if (key != ERR)
			return key;
		const uint64_t now = monotonic_ns();
		if (now >= until_ns)
			return SCREEN_TICK;
		const uint64_t left = until_ns - now;
		const struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		const int ready = ppoll(&input, 1, &timeout, &outside);
		if (ready > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			break;
	}
	return SCREEN_GONE;
}
