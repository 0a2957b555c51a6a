/* SPDX-License-Identifier: MIT */
/* A hold changes its owner, and ends although its owner does not end it. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancellation.h"
#include "hold.h"
#include "identity.h"
#include "liveness.h"
#include "probe.h"
#include "proc.h"
#include "recover.h"

/* `start` is 0 if it cannot be told. -ESRCH: no such process. */
static int
find_process(pid_t pid, uint64_t *start)
{
	if (pid <= 0 || pid >= 1 << PID_BITS)
		return -ESRCH;
	/* Not kill(), which takes the number of any thread. */
	if (syscall(SYS_tgkill, pid, pid, 0) != 0 && errno == ESRCH)
		return -ESRCH;

	char text[12];
	struct process_stat stat;
	pid_to_text(pid, text);
	*start = 0;
	if (!proc_is_trustworthy() || !process_stat_read(text, &stat))
		return 0;
	if (stat.state == 'Z' && stat.threads == 1)
		return -ESRCH;
	*start = start_read(text);
	return 0;
}

/* `use` is for those who look on, and stands there before `pid` can be seen to have died. */
static int
change_owner(struct hold *hold, pid_t pid, enum use use)
{
	const uint64_t self = identity_who();
	if (hold->sem == 0 || hold_is_lent(hold) || self == 0)
		return -EPERM;
	uint64_t start;
	int rc = find_process(pid, &start);
	if (rc < 0)
		return rc;
	struct tsem *sem = hold_sem(hold);
	struct record *record = &sem->segment.records[hold->record];
	uint64_t what;
	if (!hold_is_held(record, hold_ticket(hold), &what))
		return -EPERM;

	/* The new owner does not hear of it, so the next holder has to: noted first, for this process may die in between. */
	if ((hold->flags & HOLD_RECOVERED) != 0)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	/* The namespace in the record stays: it is the one in which this process knows the new owner's pid. */
	STORE_REL(&record->use, use);
	STORE_REL(&record->start, start);
	const uint64_t who = who_handed((uint32_t)pid, hold_ticket(hold));
	if (!CAS_SEQ(&record->who, self, who))
		return -EPERM;
	ADD_RLX(&sem->segment.header->statistics.handed_over, 1);
	hold->flags |= HOLD_LENT;
	hold->lent = who;
	return 0;
}

int
tsem_hand_over(tsem_hold *out, pid_t pid)
{
	struct hold *hold = hold_inside(out);
	int rc = change_owner(hold, pid, USE_HOLD);
	if (rc == 0)
		hold->sem = 0;
	return rc;
}

int
tsem_lend(tsem_hold *out, pid_t pid)
{
	return change_owner(hold_inside(out), pid, USE_COMMAND);
}

/* The newest HELD record that was handed over to `pid`, and its owner and state; NO_RECORD if there is none. */
static uint32_t
find_handed(struct tsem *sem, pid_t pid, uint64_t start, const struct identity *self, uint64_t *who, uint64_t *what)
{
	uint32_t newest = NO_RECORD;
	const struct record *record;
	for (uint32_t i = 0; (record = record_at(sem, i)) != NULL; i++) {
		const uint64_t owner = LOAD_ACQ(&record->who);
		if (who_kind(owner) != WHO_KIND_HANDED || who_pid(owner) != (uint32_t)pid)
			continue;
		const uint64_t recorded = LOAD_ACQ(&record->start);
		const uint64_t state = LOAD_ACQ(&record->what);
		const bool comparable = recorded != 0 && start != 0;
		if (what_state(state) != STATE_HELD || LOAD_ACQ(&record->pid_ns) != self->pid_ns
		    || (comparable && !is_same_start(recorded, start)))
			continue;
		/* Lent: whoever lent it knows when it ends. */
		if (LOAD_ACQ(&record->use) == USE_COMMAND)
			continue;
		if (newest != NO_RECORD && counter_diff(what_value(state), what_value(*what)) < 0)
			continue;
		newest = i;
		*who = owner;
		*what = state;
	}
	return newest;
}

/* From RELEASING to the end. */
static void
finish_foreign(struct tsem *sem, uint32_t index, uint64_t who, uint64_t releasing)
{
	struct record *record = &sem->segment.records[index];
	struct grant grant;
	if (release_for_owner(sem, index, record, releasing, &grant))
		record_free_for(sem, index, record, who);
	after_grant(sem, &grant);
}

/*
 * Releases a hold for an owner that is dead, or that it was handed over to: HELD -> RELEASING by CAS. From there on any
 * recoverer carries it on, should this process die. `who` cannot come back in this record.
 */
static bool
release_foreign(struct tsem *sem, uint32_t index, uint64_t who, uint64_t what)
{
	struct record *record = &sem->segment.records[index];
	const uint64_t releasing = what_next(what, STATE_RELEASING, what_value(what));
	if (!CAS_SEQ(&record->what, what, releasing))
		return false;
	finish_foreign(sem, index, who, releasing);
	return true;
}

int
tsem_release_for(tsem *sem, pid_t pid)
{
	struct identity self;
	if (!sem->segment.writable)
		return -EPERM;
	if (!identity_get(&self))
		return -ENOMEM;
	uint64_t start = 0;
	int rc = find_process(pid, &start);
	if (rc < 0)
		return rc;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		uint64_t who = 0;
		uint64_t what = 0;
		const uint32_t index = find_handed(sem, pid, start, &self, &who, &what);
		if (index == NO_RECORD)
			return -ENOENT;
		if (release_foreign(sem, index, who, what))
			return 0;
	}
	return -EBADMSG;
}

int
tsem_end_loan(tsem_hold *out)
{
	struct hold *hold = hold_inside(out);
	if (hold->sem == 0 || !hold_is_lent(hold))
		return -EPERM;
	struct tsem *sem = hold_sem(hold);
	const struct record *record = &sem->segment.records[hold->record];
	uint64_t what;
	/* Under its ticket it is HELD once and never again; if not now, the owner has died, and it was given back. */
	if (hold_is_held(record, hold_ticket(hold), &what))
		release_foreign(sem, hold->record, hold->lent, what);
	hold->sem = 0;
	return 0;
}

int
tsem_adopt(tsem_hold *out)
{
	struct hold *hold = hold_inside(out);
	struct identity self;
	int rc = identity_read(&self);
	if (rc < 0)
		return rc;
	struct tsem *sem = hold_sem(hold);
	if (sem == NULL || hold_is_lent(hold))
		return -EPERM;
	struct record *record = &sem->segment.records[hold->record];
	const uint64_t parent = LOAD_ACQ(&record->who);
	if (who_kind(parent) != WHO_KIND_OWNER || parent == self.who)
		return -EPERM;
	if (LOAD_ACQ(&record->pid_ns) != self.pid_ns)
		return -EXDEV;

	uint64_t what;
	if (!hold_is_held(record, hold_ticket(hold), &what) || !CAS_SEQ(&record->who, parent, self.who))
		return -EPERM;
	/*
	 * The parent may have died before that, and a recoverer may know it: having looked at `who` for the last time, it
	 * is about to act on the state. So the state changes, too. If it was faster, the hold is lost; if not, it fails.
	 */
	if (CAS_SEQ(&record->what, what, what_adopted(what))) {
		STORE_REL(&record->use, USE_COMMAND);
		hold->what = what_adopted(what);
		return 0;
	}
	/* What the recoverer began it leaves to the new owner, who has to finish it. */
	const uint64_t releasing = what_next(what, STATE_RELEASING, hold_ticket(hold));
	if (LOAD_ACQ(&record->what) == releasing)
		finish_foreign(sem, hold->record, self.who, releasing);
	else
		record_free_for(sem, hold->record, record, self.who);
	return -EPERM;
}

/* What a parent knows of its child, also where nobody else can find out: without /proc, say. */
static bool
is_our_ended_child(const struct record *record, uint64_t who)
{
	NO_CANCELLATION;
	struct identity self;
	siginfo_t info = {0};
	const pid_t pid = (pid_t)who_pid(who);
	const int saved = errno;
	const bool ended = pid > 0 && identity_get(&self) && LOAD_ACQ(&record->pid_ns) == self.pid_ns
	                   && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
	errno = saved;
	return ended;
}

int
tsem_reap(tsem_hold *out, unsigned flags)
{
	if ((flags & ~TSEM_ABANDONED) != 0)
		return -EINVAL;
	struct hold *hold = hold_inside(out);
	if (hold->sem == 0)
		return -EPERM;
	/* Noted first, for whoever gets these permits; if it is not released here, for nothing. */
	if ((flags & TSEM_ABANDONED) != 0 && !hold_is_lent(hold))
		STORE_SEQ(&hold_sem(hold)->segment.header->abandoned, 1);
	if (tsem_release(out) == 0)
		return 0;

	/* Not recovered but released: the command ended, and nobody died on anybody. */
	struct tsem *sem = hold_sem(hold);
	struct record *record = &sem->segment.records[hold->record];
	const uint64_t who = LOAD_ACQ(&record->who);
	/* Mostly it is, and then that is one system call instead of ten. */
	const bool dead =
		who != 0 && (is_our_ended_child(record, who) || owner_liveness(sem, record, who) == LIVENESS_DEAD);
	uint64_t what;
	if (hold_is_held(record, hold_ticket(hold), &what)) {
		if (!dead)
			return -EBUSY;
		const bool abandoned = (flags & TSEM_ABANDONED) != 0;
		const uint32_t count = LOAD_ACQ(&record->count);
		if (abandoned)
			STORE_SEQ(&sem->segment.header->abandoned, 1);
		if (LOAD_SEQ(&record->who) == who && release_foreign(sem, hold->record, who, what) && abandoned) {
			PROBE(recover, sem, hold_ticket(hold), count);
			ADD_RLX(&sem->segment.header->statistics.recovered, count);
		}
	}
	hold->sem = 0;
	return 0;
}
