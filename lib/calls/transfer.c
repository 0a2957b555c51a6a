/* SPDX-License-Identifier: MIT */
/* Changing a hold's owner; releasing it on the owner's behalf. */
#include <errno.h>
#include <sys/wait.h>

#include "calls/release_other.h"
#include "cancellation.h"
#include "protocol/probe.h"
#include "protocol/protocol.h"
#include "records/owner.h"
#include "records/presence.h"
#include "system/find_process.h"
#include "system/identity.h"
#include "system/proc.h"

/* ---- another owner ---- */

/*
 * Makes `found`, or if that is NULL the process `pid`, the owner. `use` is written first, so that it is there before
 * another process can find the new owner dead.
 */
static int
change_owner(struct hold *hold, pid_t pid, const tsem_process *found, enum use use)
{
	if (hold->sem == 0 || hold_is_lent(hold))
		return -EPERM;
	struct process process;
	if (found != NULL)
		process = process_inside(found);
	int rc = found == NULL ? find_process(pid, &process) : find_process_again(&process);
	if (rc < 0)
		return rc;
	struct tsem *sem = hold_sem(hold);
	struct record *record = hold_record(hold);
	uint64_t state;
	const uint64_t self = LOAD_RLX(&record->owner);
	if (!identity_is(self) || !record_is_held(record, hold_ticket(hold), &state))
		return -EPERM;

	/*
	 * The new owner is not told, so the next holder has to be. Written first, because this process may die on the way.
	 */
	if ((hold->flags & HOLD_RECOVERED) != 0)
		STORE_SEQ(&sem->segment.header->abandoned, 1);
	/* The namespace in the record stays: it is the one in which the new owner has this pid. */
	STORE_REL(&record->use, use);
	STORE_REL(&record->start, owner_start(process.owner));
	const uint64_t owner = owner_handed(owner_pid(process.owner), hold_ticket(hold));
	if (!CAS_SEQ(&record->owner, self, owner))
		return -EPERM;
	ADD_RLX(&sem->segment.header->statistics.handed_over, 1);
	hold->flags |= HOLD_LENT;
	hold->lent = owner;
	hold->lender = identity_owner();
	return 0;
}

static int
hand_over(struct hold *hold, pid_t pid, const tsem_process *process)
{
	int rc = change_owner(hold, pid, process, USE_HOLD);
	if (rc == 0)
		hold->sem = 0;
	return rc;
}

int
tsem_hand_over(tsem_hold *hold, pid_t pid)
{
	return hand_over(hold_inside(hold), pid, NULL);
}

int
tsem_hand_over_to(tsem_hold *hold, const tsem_process *process)
{
	return hand_over(hold_inside(hold), 0, process);
}

int
tsem_lend(tsem_hold *hold, const tsem_process *process)
{
	return change_owner(hold_inside(hold), 0, process, USE_COMMAND);
}

/* ---- releasing for the owner ---- */

/* Finds the newest HELD record that was handed over to the process; NO_RECORD if there is none. */
static uint32_t
find_handed(struct tsem *sem, const struct process *process, uint64_t *newest_owner, uint64_t *newest_state)
{
	uint32_t newest = NO_RECORD;
	const struct record *record;
	FOR_EACH_RECORD(sem, i, record) {
		const uint64_t owner = LOAD_ACQ(&record->owner);
		if (owner_kind(owner) != OWNER_KIND_HANDED || owner_pid(owner) != owner_pid(process->owner))
			continue;
		const uint64_t recorded = LOAD_ACQ(&record->start);
		const uint64_t state = LOAD_ACQ(&record->state);
		const bool comparable = recorded != 0 && owner_start(process->owner) != 0;
		if (state_kind(state) != STATE_HELD || LOAD_ACQ(&record->pid_ns) != process->pid_ns
		    || (comparable && !is_same_start(recorded, owner_start(process->owner))))
			continue;
		/* The process that has lent a hold ends the loan. */
		if (LOAD_ACQ(&record->use) == USE_COMMAND)
			continue;
		if (newest != NO_RECORD && counter_diff(state_value(state), state_value(*newest_state)) < 0)
			continue;
		newest = i;
		*newest_owner = owner;
		*newest_state = state;
	}
	return newest;
}

int
tsem_release_for(tsem *sem, pid_t pid)
{
	struct process process;
	if (!sem->segment.writable)
		return -EPERM;
	int rc = find_process(pid, &process);
	if (rc < 0)
		return rc;
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		uint64_t owner = 0;
		uint64_t state = 0;
		const uint32_t index = find_handed(sem, &process, &owner, &state);
		if (index == NO_RECORD)
			return -ENOENT;
		if (release_other(sem, index, owner, state))
			return 0;
	}
	return -EBADMSG;
}

/* ---- parent and child ---- */

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
	struct record *record = hold_record(hold);
	const uint64_t parent = LOAD_ACQ(&record->owner);
	if (owner_kind(parent) != OWNER_KIND_PROCESS || owner_unlocked(parent) == self.owner)
		return -EPERM;
	if (LOAD_ACQ(&record->pid_ns) != self.pid_ns)
		return -EXDEV;

	uint64_t state;
	const uint64_t own = presence_of_child(sem, &self, parent);
	if (!record_is_held(record, hold_ticket(hold), &state) || !CAS_SEQ(&record->owner, parent, own))
		return -EPERM;
	/*
	 * The parent may have died before that, and a recovering process may have read the owner for the last time and be
	 * about to change the state. So the state changes here, too. If the recovering process was faster, the hold is
	 * lost; if not, it fails.
	 */
	if (CAS_SEQ(&record->state, state, state_adopted(state))) {
		STORE_REL(&record->use, USE_COMMAND);
		hold->state = state_adopted(state);
		return 0;
	}
	return -EPERM; /* the next look completes the release, and the record comes back when this process ends */
}

/* Whether the owner is a child of this process that has ended. A parent can tell even without /proc. */
static bool
is_our_ended_child(const struct record *record, uint64_t owner)
{
	NO_CANCELLATION;
	siginfo_t info = {0};
	const pid_t pid = (pid_t)owner_pid(owner);
	const int saved = errno;
	const bool ended = pid > 0 && owner_is_in_our_namespace(record)
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
	/* Written first, for the next holder; in vain if this call does not release the hold. */
	if ((flags & TSEM_ABANDONED) != 0 && !hold_is_lent(hold))
		STORE_SEQ(&hold_sem(hold)->segment.header->abandoned, 1);
	if (!hold_is_lent(hold) && tsem_release(out) == 0)
		return 0;

	/* Released, and not recovered: a command that ended by itself has abandoned nothing. */
	struct tsem *sem = hold_sem(hold);
	struct record *record = hold_record(hold);
	const uint64_t owner = LOAD_ACQ(&record->owner);
	/* Mostly the owner is an ended child, which one system call shows instead of ten. */
	const bool dead =
		owner != 0 && (is_our_ended_child(record, owner) || owner_liveness(sem, record, owner) == LIVENESS_DEAD);
	uint64_t state;
	if (record_is_held(record, hold_ticket(hold), &state)) {
		if (!dead)
			return -EBUSY;
		const bool abandoned = (flags & TSEM_ABANDONED) != 0;
		const uint32_t count = LOAD_ACQ(&record->count);
		if (abandoned)
			STORE_SEQ(&sem->segment.header->abandoned, 1);
		if (LOAD_SEQ(&record->owner) == owner && release_other(sem, hold->record, owner, state) && abandoned) {
			PROBE(recover, sem, hold_ticket(hold), count);
			ADD_RLX(&sem->segment.header->statistics.recovered, count);
		}
	}
	if (dead)
		presence_forget_child(sem, owner);
	hold->sem = 0;
	return 0;
}
