/* SPDX-License-Identifier: MIT */
/* Starting the command of `tsem run`, forwarding signals to it, and waiting for its end. */
#ifndef TSEM_CLI_SPAWN_H
#define TSEM_CLI_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tsem.h"

/* The holds that the command owns while it runs. */
struct holds {
	tsem_hold *all;
	size_t n;
};

struct spawned {
	pid_t pid;
	int adopt_error;    /* 0, or the negative errno of tsem_adopt() */
	int repair_error;   /* 0, or the negative errno of the vfork() for the repair */
	bool repair_failed; /* it ran, and the command was not executed */
	int exec_error;     /* 0, or the errno of exec */
};

/* Blocks the signals that `tsem run` forwards. `old`: the previous mask, for the command. */
void spawn_block_signals(sigset_t *old);

/*
 * Delivers a terminating signal that arrived before the command exists. It ends this process here unless it is ignored;
 * the holds are recovered as from any dead process.
 */
void spawn_deliver_pending_signals(const sigset_t *old);

/* This process becomes the command. Returns the errno of exec if it fails. */
int spawn_become(char **argv, const sigset_t *mask);

/* Starts the command as the new owner of the holds. 0, or a negative errno if there is no child. */
int spawn_command(char **argv, const sigset_t *mask, const struct holds *holds, struct spawned *spawned);

/*
 * The same, but the new owner first runs `repair` as a child, and executes the command if that succeeds. `*spawned` is
 * memory that both processes share, until this process ends.
 */
int spawn_repair_and_command(char **repair, char **argv, const sigset_t *mask, const struct holds *holds,
                             struct spawned **spawned);

/*
 * Starts a process that executes the command once a byte arrives through the pair `gate`, and ends if that is closed.
 * It calls `prepare` before, which returns the repair to run first, or NULL.
 */
int spawn_behind_gate(const int gate[2], char **(*prepare)(const void *arg), const void *arg, char **argv,
                      const sigset_t *mask, struct spawned **spawned);

/* A descriptor that becomes readable when a signal arrives, or a negative errno. */
int spawn_open_signals(void);

/* Forwards the signals that have arrived at the descriptor. */
void spawn_forward_signals(int fd, pid_t pid);

enum command_state { COMMAND_RUNS, COMMAND_STOPPED, COMMAND_ENDED };

/* Does not block, and leaves the command a zombie when it has ended. `info`: what waitid() reported. */
enum command_state spawn_poll(pid_t pid, siginfo_t *info);

/*
 * While the command is stopped: stops this process as well if a shell does job control, so that the shell sees the
 * stop. Otherwise returns at once.
 */
void spawn_stop_with_command(void);

/*
 * Forwards signals and stops with the command until it ends. The command stays a zombie, because other processes must
 * not find its pid gone before its holds are released. `info`: what waitid() reported.
 */
void spawn_wait(pid_t pid, siginfo_t *info);

#endif
