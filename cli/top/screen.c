/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top/screen.h"

#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "monotonic.h"
#include "termination.h"
#include "top/pen.h"
#include "top/terminal.h"
#include "view/color.h"

/* ---- restoring the terminal ---- */

/* The former settings, and the text that restores the rest: signal handlers and atexit() must not call curses. */
static struct termios before;
static char restoring[TERMINAL_RESTORING_MAX];
static size_t restoring_length;
static volatile sig_atomic_t taken;

static void
restore_terminal(void)
{
	if (taken == 0)
		return;
	taken = 0;
	ssize_t written = write(STDOUT_FILENO, restoring, restoring_length);
	(void)written; /* nothing else can be tried */
	tcsetattr(STDOUT_FILENO, TCSANOW, &before);
}

static void
restore_and_die(int number)
{
	restore_terminal();
	die_of_signal(number);
}

/* The default action of these signals does not end a process. */
static bool
is_deadly(int number)
{
	static const int harmless[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH};
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		if (number == harmless[i])
			return false;
	}
	return true;
}

/*
 * Leaves signals alone that have a handler. The handler blocks all signals, because tcsetattr() must not stop the
 * process.
 */
static void
catch_deadly_signals(void)
{
	struct sigaction dying = {.sa_handler = restore_and_die};
	struct sigaction now;
	sigfillset(&dying.sa_mask);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (is_deadly(number) && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(number, &dying, NULL);
	}
}

/* False if the settings cannot be read. */
static bool
save_terminal(void)
{
	static bool registered;
	if (tcgetattr(STDOUT_FILENO, &before) != 0)
		return false;
	restoring_length = terminal_restoring(restoring);
	if (!registered && atexit(restore_terminal) != 0)
		return false;
	registered = true;
	return true;
}

/* ---- signals ---- */

/* The mask of ppoll(): signals arrive only there, so that none arrives between a check and the sleep. */
static sigset_t outside;
static struct termination termination;

static void
catch_signals(void)
{
	sigset_t held;
	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	sigaddset(&held, SIGTSTP); /* the handler of curses draws and must not interrupt our drawing */
	termination_add(&held);
	termination_defer(&termination);
	sigprocmask(SIG_BLOCK, &held, &outside);
}

static void
leave_signals(void)
{
	termination_restore(&termination);
	sigprocmask(SIG_SETMASK, &outside, NULL);
}

void
screen_die_of_signal(void)
{
	if (termination_signal() != 0)
		die_of_signal(termination_signal());
}

/* ---- the screen ---- */

static SCREEN *screen;

bool
screen_begin(void)
{
	if (!terminal_can_be_drawn_on() || !save_terminal())
		return false;
	/* Before newterm(): curses leaves signals alone that have a handler. */
	catch_signals();
	catch_deadly_signals();
	taken = 1;
	screen = newterm(NULL, stdout, stdin);
	if (screen == NULL) {
		taken = 0;
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
	taken = 0;
	delscreen(screen);
	screen = NULL;
	fflush(stdout);
}

int
screen_wait(uint64_t until_ns)
{
	while (termination_signal() == 0) {
		const int key = getch();
		if (key != ERR)
			return key;
		const uint64_t now = monotonic_ns();
		if (now >= until_ns)
			return SCREEN_TICK;
		const struct timespec timeout = to_timespec(until_ns - now);
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		const int ready = ppoll(&input, 1, &timeout, &outside);
		if (ready > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			break;
	}
	return SCREEN_GONE;
}
