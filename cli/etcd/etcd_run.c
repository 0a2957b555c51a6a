/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "etcd/credentials.h"
#include "etcd/etcd_verbs.h"
#include "etcd/keeper.h"
#include "etcd/nested.h"
#include "message.h"
#include "refusal.h"
#include "spawn.h"
#include "termination.h"

struct run {
	const struct options *o;
	struct keeper keeper;
	struct spawned *command; /* the process that becomes the command */
	int gate;                /* where a byte lets it do so, and a closed socket ends it; -1: it has been told */
	bool told_loss;
	bool told_error;
};

/* ---- the command ---- */

static void
set_environment(const struct options *o, const struct keeper *keeper)
{
	const struct granted *grant = &keeper->ledger->grant;
	char name[OPERAND_TEXT_MAX];
	store_operand(&keeper->store, keeper->store.names[grant->which], name);
	command_set_permits(o, o->any ? name : o->name, keeper->ledger->count, grant->slots, grant->slots_n);
	command_set_recovered(grant->recovered);
	command_set_fence(grant->fence);
	credentials_hide();
}

static char **
prepare(const void *arg)
{
	const struct run *run = arg;
	set_environment(run->o, &run->keeper);
	run->keeper.ledger->begun = true;
	return run->o->on_recovered != NULL && run->keeper.ledger->grant.recovered ? command_repair_words(run->o) : NULL;
}

/*
 * The process is there before the permits are, so that the keeper knows it from the beginning, and so that nothing but
 * exec comes between the grant and the command.
 */
static void
start_command(struct run *run, char **words)
{
	int gate[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) != 0)
		die_of_fork(run->o, -errno);
	const int rc = spawn_behind_gate(gate, prepare, run, words, &run->keeper.mask, &run->command);
	if (rc < 0)
		die_of_fork(run->o, rc);
	close(gate[0]);
	run->gate = gate[1];
}

static void
close_gate(struct run *run)
{
	close(run->gate);
	run->gate = -1;
}

/* Something may have killed the process behind the gate: that is no SIGPIPE, but the end of the command. */
static void
open_gate(struct run *run)
{
	send(run->gate, "", 1, MSG_NOSIGNAL);
	close_gate(run);
}

/* ---- the run ---- */

/* `stops`: what LOST_STOP does to the command. */
static void
tell_loss(struct run *run, const char *reason, const char *stops)
{
	const int action = run->o->on_lost;
	complain(run->o->name, "the hold is lost: %s (the command %s)", reason,
	         action == LOST_STOP     ? stops
	         : action == LOST_IGNORE ? "goes on"
	                                 : "gets the signal of --on-lost");
	run->told_loss = true;
}

/* Without a keeper, nothing else would stop the command in time. */
static void
stop_command(struct run *run)
{
	const int action = run->o->on_lost;
	run->keeper.ledger->lost = LOSS_ENDED;
	if (action != LOST_IGNORE)
		kill(run->command->pid, action == LOST_STOP ? SIGKILL : action);
	tell_loss(run, "there is no keeper", "is killed"); /* this may block */
}

static const char *
reason_of_loss(const struct ledger *ledger)
{
	const int lost = ledger->lost;
	return lost == LOSS_ENDED     ? "the store has ended it, or the semaphore was removed"
	       : lost == LOSS_REFUSED ? ledger->refusal
	                              : "no member of the store has answered in time, or tsem or the machine stood still";
}

/* What the keeper has found out. */
static void
tell(struct run *run)
{
	const struct ledger *ledger = run->keeper.ledger;
	if (ledger->lost != LOSS_NONE && !run->told_loss)
		tell_loss(run, reason_of_loss(ledger), "is stopped");
	if (ledger->stop_error != 0 && !run->told_error)
		complain(run->o->name, "the command cannot be stopped: %s (stop it yourself)", strerror(ledger->stop_error));
	run->told_error = ledger->stop_error != 0;
}

static void
wait_for_command(struct run *run, siginfo_t *end)
{
	enum command_state state;
	int status;
	const int signals = spawn_open_signals();
	if (signals < 0)
		die_of_fork(run->o, signals);
	while ((state = spawn_poll(run->command->pid, end)) != COMMAND_ENDED) {
		if (state == COMMAND_STOPPED)
			spawn_stop_with_command();
		if (keeper_wait(&run->keeper, signals, NULL, &status) >= NEWS_ENDED)
			stop_command(run);
		tell(run);
		spawn_forward_signals(signals, run->command->pid);
	}
	close(signals);
}

static void
wait_for_release(struct run *run, const siginfo_t *end)
{
	struct ledger *ledger = run->keeper.ledger;
	int status;
	const struct spawned *command = run->command;
	const bool killed = end->si_code != CLD_EXITED || command->repair_failed;
	ledger->end = command->exec_error != 0 || command->repair_error != 0 ? END_UNUSED
	              : killed                                               ? END_KILLED
	                                                                     : END_EXITED;
	keeper_ring(&run->keeper);
	while (ledger->released == RELEASE_NONE && keeper_wait(&run->keeper, -1, NULL, &status) < NEWS_ENDED)
		continue;
	tell(run);
	if (ledger->released != RELEASE_DONE)
		complain(run->o->name, "the permits cannot be given back now, so they come back later (within %" PRIu32 " s)",
		         run->o->ttl_s);
}

static int
status_of_run(const struct run *run, const char *command, const siginfo_t *end)
{
	const int error = run->command->exec_error;
	if (run->keeper.ledger->lost != LOSS_NONE && run->o->on_lost == LOST_STOP)
		return EXIT_TSEM_FAILED;
	if (run->command->repair_error < 0 || run->command->repair_failed)
		die_of_repair(run->o, run->command->repair_error);
	return error != 0 ? command_not_executed(run->o, command, error, NULL) : command_status(run->o, end);
}

static int
run_beside(const struct options *o, char **words)
{
	struct run run = {.o = o};
	siginfo_t end;
	keeper_prepare(&run.keeper, o, FOR_COMMAND);
	start_command(&run, words);
	keeper_begin(&run.keeper, run.command->pid);
	const int signal = keeper_wait_for_grant(&run.keeper);
	if (signal != 0) {
		close_gate(&run); /* a keeper that has the permits gives them back when the process behind it has ended */
		keeper_dismiss(&run.keeper, signal);
	}
	spawn_deliver_pending_signals(&run.keeper.mask);
	open_gate(&run);
	wait_for_command(&run, &end);
	wait_for_release(&run, &end);
	waitpid(run.command->pid, NULL, 0);
	return status_of_run(&run, words[0], &end);
}

/* ---- with -F ---- */

/* The keeper must not be a child of the command, so another process starts it, as `tsem acquire` does. */
static _Noreturn void
acquire_for(struct keeper *keeper, pid_t owner)
{
	keeper_begin(keeper, owner);
	const int signal = keeper_wait_for_grant(keeper);
	if (signal != 0)
		keeper_dismiss(keeper, signal);
	keeper->ledger->begun = true;
	exit(EXIT_DONE);
}

/* A signal that ends this process ends the other one first, which leaves the line then. */
static void
wait_for_helper(const struct keeper *keeper, pid_t helper)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, helper, 0U), .events = POLLIN};
	struct termination termination;
	int how = 0;
	termination_defer(&termination);
	while (end.fd >= 0 && termination_signal() == 0 && ppoll(&end, 1, NULL, &keeper->mask) <= 0)
		continue;
	termination_restore(&termination);
	if (termination_signal() != 0)
		kill(helper, SIGTERM);
	waitpid(helper, &how, 0);
	if (termination_signal() != 0)
		die_of_signal(termination_signal());
	if (WIFSIGNALED(how))
		die(keeper->o->name, "the process that waited for the permits was killed by signal %d (try again)",
		    WTERMSIG(how));
	if (how != 0)
		exit(WEXITSTATUS(how));
	close(end.fd);
}

/* The keeper takes the permits of a command that was not executed for unused ones, and of one that ends for a dead one's. */
static int
run_here(const struct options *o, char **words)
{
	struct keeper keeper;
	keeper_prepare(&keeper, o, FOR_SELF);
	const pid_t owner = getpid();
	const pid_t helper = fork();
	if (helper < 0)
		die_of_fork(o, -errno);
	if (helper == 0)
		acquire_for(&keeper, owner);
	wait_for_helper(&keeper, helper);
	set_environment(o, &keeper);
	const int error = spawn_become(words, &keeper.mask);
	keeper.ledger->end = END_UNUSED;
	return command_not_executed(o, words[0], error, NULL);
}

int
etcd_cmd_run(const struct options *o)
{
	char **words = command_words(o);
	check_run_options(o);
	if (o->has_permits && o->permits == 0)
		die(o->name, "with -j 0 nothing would ever run (use 1 or more)");
	if (o->nested)
		nested_run(o, words);
	return o->no_fork ? run_here(o, words) : run_beside(o, words);
}
