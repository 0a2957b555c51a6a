/* SPDX-License-Identifier: MIT */
/* Starting the command of `tsem run`, and standing between it and the world until it ends. */
#ifndef TSEM_CLI_SPAWN_H
#define TSEM_CLI_SPAWN_H

#include <signal.h>
#include <sys/types.h>

#include "tsem.h"

/* The holds that go to the command. */
struct luggage {
	tsem_hold *holds;
	size_t n;
};

struct spawned {
	pid_t pid;
	int adopt_error; /* 0, or the negative errno of tsem_adopt() */
	int exec_error;  /* 0, or the errno of exec */
};

/* Blocks the signals that `tsem run` passes on; `old`: the mask from before, which the command gets back. */
void spawn_block_signals(sigset_t *old);

/*
 * A Ctrl-C that came before the command existed goes to nobody else: it ends us here, or, if it is ignored, nothing
 * happens. What we hold comes back, as from any dead process.
 */
void spawn_let_pending_signals_end_us(const sigset_t *old);

/* Starts the command as the new owner of the holds. 0, or a negative errno if there is no child. */
int spawn_command(char **argv, const sigset_t *mask, const struct luggage *luggage, struct spawned *spawned);

/* Opens a descriptor that becomes readable with those signals; or a negative errno. */
int spawn_open_signals(void);

/* Reads what has come and passes it on. */
void spawn_pass_signals_on(int fd, pid_t pid);

enum command_state { COMMAND_RUNS, COMMAND_STOPPED, COMMAND_ENDED };

/* Without waiting. An end is left to be seen. `info`: what waitid() said of the end. */
enum command_state spawn_look(pid_t pid, siginfo_t *info);

/*
 * While the command is stopped: stops this process, too, where that is job control, so that the shell that started it sees
 * the stop. Otherwise it returns at once, and the caller goes on waiting for what comes next.
 */
void spawn_stop_with_command(void);

/*
 * Waits until the command has ended, passing signals on, and stopping with it where that is job control. It stays a zombie, so that nobody
 * takes it for vanished before its holds have been given back. `info`: what waitid() said.
 */
void spawn_wait(pid_t pid, siginfo_t *info);

#endif
