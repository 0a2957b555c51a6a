/* SPDX-License-Identifier: MIT */
/*
 * The keeper of a `tsem run` on etcd: a process that does all of its network work, and keeps its hold as long as the
 * command runs, even if `tsem run` is killed. If the keeper is killed or stopped, `tsem run` starts another one, which
 * goes on with the same lease.
 */
#ifndef TSEM_CLI_ETCD_KEEPER_H
#define TSEM_CLI_ETCD_KEEPER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "etcd/line.h"
#include "etcd/store.h"
#include "options.h"

enum loss {
	LOSS_NONE,
	LOSS_ENDED,   /* the store says so */
	LOSS_REFUSED, /* it refuses to keep the lease alive */
	LOSS_SILENCE  /* it says nothing */
};

enum release { RELEASE_NONE, RELEASE_DONE, RELEASE_LATE /* when the lease ends, because the store is silent */ };

enum command_end { END_NONE, END_EXITED, END_KILLED, END_UNUSED /* it was not executed */ };

enum purpose {
	FOR_COMMAND,
	FOR_OWNER, /* that `tsem acquire` names */
	FOR_SELF,  /* the process itself becomes the command */
	TO_TAKE    /* the permits are to have no recorded holder */
};

/*
 * What `tsem run` and its keepers know in common, in memory that they share. After the grant, only `tsem run` prints: a
 * keeper must neither hold stderr open nor block on a full pipe.
 *
 * The writer of a field rings afterwards, by a byte through the socket; what tells that others are complete is written
 * last.
 */
struct ledger {
	/* Written by the keeper. */
	int64_t lease;
	int64_t line;                    /* the incarnation of the semaphores in whose lines it surely was; 0: none */
	uint32_t count;                  /* of permits; 0: all, but it is not known yet how many that are */
	_Atomic uint32_t beats;          /* a keeper that runs counts on */
	_Atomic uint64_t valid_until_ns; /* of the hold, CLOCK_BOOTTIME */
	struct granted grant;
	_Atomic bool granted;
	_Atomic bool taken; /* TO_TAKE: the permits are no longer those of a holder */
	char refusal[ERROR_BYTES_MAX];
	_Atomic int lost;       /* an enum loss: another process may have got the permits, or will soon */
	_Atomic bool signalled; /* the command, because of that */
	_Atomic int stop_error; /* of the signal to the command; 0: none */
	_Atomic int released;   /* an enum release */

	/* Written by `tsem run`, or by its child. */
	pid_t wrapper;
	_Atomic bool
		begun; /* the child is about to execute the command, or `tsem acquire` is about to say that it has acquired */
	_Atomic int end; /* an enum command_end */
};

struct keeper {
	const struct options *o;
	struct store store;
	enum purpose purpose;
	sigset_t mask; /* the previous one, which its process has */
	struct ledger *ledger;
	pid_t command; /* or the owner */
	int process;   /* a pidfd of it */
	int socket;
	pid_t pid;      /* 0: there is none any more */
	uint32_t beats; /* when `tsem run` looked last */
	unsigned silent;
	uint64_t next_ns; /* when it looks again, CLOCK_MONOTONIC */
};

/* Call it first. It blocks the signals that end the process. Dies if that fails. */
void keeper_prepare(struct keeper *keeper, const struct options *o, enum purpose purpose);

/* Starts a keeper for the process `command`, which executes nothing before the grant. Dies if that fails. */
void keeper_begin(struct keeper *keeper, pid_t command);

enum news {
	NEWS_NONE,  /* `fd` is readable, or a signal has come */
	NEWS_RUNG,  /* the ledger may have changed */
	NEWS_ENDED, /* the keeper has exited with `*status`, and said why */
	NEWS_FAILED /* the keeper has died, and no other one could be started */
};

/* Waits for news of the keeper, or until `fd` is readable or, under `mask`, a signal comes. -1: no such descriptor. */
enum news keeper_wait(struct keeper *keeper, int fd, const sigset_t *mask, int *status);

/*
 * Waits until the permits are granted, and returns 0, or the terminating signal that ended the wait. Exits with the status
 * of a keeper that exits without them.
 */
int keeper_wait_for_grant(struct keeper *keeper);

/* Whether the process that it holds for has not been started by the one that waits for it. */
bool keeper_is_for_owner(const struct keeper *keeper);

/* Whether the command or owner has ended. */
bool keeper_process_has_ended(const struct keeper *keeper);

/* Tells the keeper that the ledger has changed. */
void keeper_ring(const struct keeper *keeper);

/* Tells the keeper to stop, waits at most 2 s until it has left the line, and dies of the signal. */
_Noreturn void keeper_dismiss(struct keeper *keeper, int signal);

/* ---- inside ---- */

/* What the process does; `keeper` is its copy. */
_Noreturn void keeper_main(struct keeper *keeper);

#endif
