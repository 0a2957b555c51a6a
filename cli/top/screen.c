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

#include "clock.h"
#include "termination.h"
#include "top/pen.h"
#include "top/terminal.h"
#include "view/color.h"

/* ---- however it ends ---- */

/* How the terminal was, and what tells it to be so again: curses may not be called in a signal handler, nor at exit. */
static struct termios before;
static char restoring[TERMINAL_RESTORING_MAX];
static size_t restoring_length;
static volatile sig_atomic_t taken;

static void
give_back_at_once(void)
{
	if (taken == 0)
		return;
	taken = 0;
	ssize_t written = write(STDOUT_FILENO, restoring, restoring_length);
	(void)written; /* there is nothing else to try */
	tcsetattr(STDOUT_FILENO, TCSANOW, &before);
}

static void
give_back_and_die(int number)
{
	give_back_at_once();
	die_of_signal(number);
}

/* Neither those that stop or continue a process, nor those that are nothing unless they are caught. */
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

/* All that nothing else has caught; with everything blocked in the handler, for tcsetattr() must not stop us. */
static void
catch_deadly_signals(void)
{
	struct sigaction dying = {.sa_handler = give_back_and_die};
	struct sigaction now;
	sigfillset(&dying.sa_mask);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (is_deadly(number) && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(number, &dying, NULL);
	}
}

/* False: it cannot be asked how it is. */
static bool
note_terminal(void)
{
	static bool minded;
	if (tcgetattr(STDOUT_FILENO, &before) != 0)
		return false;
	restoring_length = terminal_restoring(restoring);
	if (!minded && atexit(give_back_at_once) != 0)
		return false;
	minded = true;
	return true;
}

/* ---- signals ---- */

/* Delivered only while waiting for keys, so that none comes between a look at it and the sleep. */
static sigset_t outside;
static struct termination termination;

static void
catch_signals(void)
{
	sigset_t held;
	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	sigaddset(&held, SIGTSTP); /* the handler of curses draws, too, and must not come into our drawing */
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
	if (!terminal_can_be_drawn_on() || !note_terminal())
		return false;
	/* First: curses leaves alone what is caught already. */
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
