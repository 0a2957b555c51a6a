/* SPDX-License-Identifier: MIT */
/* What is done to the holds and waits of one process, which a user names by its number. */
#include "calls/named_owner.h"

#include <errno.h>

#include "protocol/protocol.h"
#include "records/owner.h"
#include "recovery/recover_front.h"
#include "recovery/removal.h"
#include "system/inner_process.h"
#include "wake/wake.h"

/* ---- of one record ---- */

/* Adds `bits` to the state of a waiter that is not enabled. False: it does not wait any more. */
static bool
mark_waiter(struct tsem *sem, struct record *record, uint64_t ticket, uint64_t bits)
{
	for (int retries = 0; retries < RETRIES_MAX; retries++) {
		const uint64_t state = LOAD_ACQ(&record->state);
		const uint32_t count = LOAD_ACQ(&record->count);
		if (state_kind(state) != STATE_QUEUED || state_value(state) != ticket || is_enabled(sem, ticket, count))
			return false;
		if (CAS_SEQ(&record->state, state, state | bits))
			return true;
	}
	return false;
}

bool
cancel_waiter(struct tsem *sem, uint32_t index, uint64_t ticket)
{
	struct record *record = &sem->segment.records[index];
	const uint32_t count = LOAD_ACQ(&record->count);
	const bool waits = mark_waiter(sem, record, ticket, STATE_CANCELLED);
	if (waits)
		wake_waiter(sem, ticket, count);
	return waits;
}

void
declare_dead(struct tsem *sem, uint32_t index, uint64_t owner, uint64_t ticket, uint32_t *permits)
{
	struct record *record = &sem->segment.records[index];
	const uint32_t count = LOAD_ACQ(&record->count);
	/* As when a waiter gives its ticket up: a process that moves E has to see the orphan, and a post, too. */
	if (mark_waiter(sem, record, ticket, STATE_DECLARED)) {
		note_orphan(sem, ticket);
		bump_grants(sem);
	}
	recover_forced(sem, index, owner, ticket, permits);
	wake_waiter(sem, ticket, count); /* a waiter that lives and has not noticed */
	skip_orphans(sem);
}

/* ---- of one process ---- */

/* The process that the user means. */
struct named {
	pid_t pid;
	uint32_t pid_ns; /* 0: `pid` is its number here; or its own one, if it has none here */
	struct inner_processes inner;
};

enum part { HOLDS_AND_WAITS, WAITS };

/* A hold or a wait of it. */
struct found {
	uint32_t index;
	struct record *record;
	uint64_t owner;
	uint64_t ticket;
	enum liveness liveness;
};

/* The ticket in the record, if it has one that counts. Of all CLAIMED records only the last one to move T can. */
static bool
find_ticket(struct tsem *sem, const struct found *found, enum part part, uint64_t *ticket)
{
	const struct record *record = found->record;
	uint64_t state = LOAD_ACQ(&record->state);
	const uint64_t tickets = LOAD_SEQ(&sem->segment.header->tickets);
	if (state_kind(state) == STATE_CLAIMED && is_last_arrival(tickets, found->index, state)) {
		finish_arrival(sem, tickets);
		state = LOAD_ACQ(&record->state);
	}
	*ticket = state_value(state);
	if (state_kind(state) == STATE_QUEUED && !is_enabled(sem, *ticket, LOAD_ACQ(&record->count)))
		return !state_is_declared(state);
	return part == HOLDS_AND_WAITS && state_kind(state) >= STATE_QUEUED;
}

/* Whether the user means this owner. Judges it then. */
static bool
is_named(const struct tsem *sem, struct found *found, const struct named *named)
{
	const pid_t own = (pid_t)owner_pid(found->owner);
	const bool is_foreign = !owner_is_in_our_namespace(found->record);
	if (own != named->pid && (!is_foreign || named->pid_ns != 0))
		return false;
	const struct process_id id = owner_process_id(found->record, found->owner);
	found->liveness = owner_liveness(sem, found->record, found->owner);
	const pid_t inner = is_foreign ? inner_process_judge(&named->inner, &id, &found->liveness) : 0;
	if (named->pid_ns != 0)
		return own == named->pid && LOAD_ACQ(&found->record->pid_ns) == named->pid_ns;
	return (inner != 0 ? inner : own) == named->pid;
}

/* Whether record `index` has a hold or a wait of the process. */
static bool
look_at(struct tsem *sem, uint32_t index, const struct named *named, enum part part, struct found *found)
{
	struct record *record = &sem->segment.records[index];
	const uint64_t owner = LOAD_ACQ(&record->owner);
	*found = (struct found){.index = index, .record = record, .owner = owner};
	if (owner == 0 || owner_kind(owner) == OWNER_KIND_ORPHAN)
		return false;
	/*
	 * The judgement comes after the ticket: until a new owner has signed the record, it describes its last owner. The
	 * owner is read again after both, so that ticket and judgement are of the same owner.
	 */
	return find_ticket(sem, found, part, &found->ticket) && is_named(sem, found, named)
	       && LOAD_SEQ(&record->owner) == owner;
}

/* The holds and waits that the user may mean, as the judge sees their owners. Dead owners make no number ambiguous. */
struct survey {
	bool any;
	bool alive;
	bool unknown;
	bool several; /* PID namespaces */
};

static struct survey
survey(struct tsem *sem, const struct named *named, enum part part)
{
	struct survey survey = {.any = false};
	uint32_t pid_ns = 0;
	const struct record *record;
	struct found found;
	FOR_EACH_RECORD(sem, i, record) {
		if (!look_at(sem, i, named, part, &found))
			continue;
		const bool dead = found.liveness == LIVENESS_DEAD;
		const uint32_t its_pid_ns = LOAD_ACQ(&record->pid_ns);
		survey.several |= !dead && (survey.alive || survey.unknown) && its_pid_ns != pid_ns;
		survey.any = true;
		survey.alive |= found.liveness == LIVENESS_ALIVE;
		survey.unknown |= found.liveness == LIVENESS_UNKNOWN;
		if (!dead)
			pid_ns = its_pid_ns;
	}
	return survey;
}

static int
check(const struct tsem *sem, const struct named *named)
{
	if (named->pid <= 0)
		return -EINVAL;
	return sem->segment.writable ? 0 : -EPERM;
}

static int
recover_named(struct tsem *sem, const struct named *named, unsigned flags, uint32_t *permits)
{
	const struct survey all = survey(sem, named, HOLDS_AND_WAITS);
	if (!all.any)
		return -ENOENT;
	if (all.several)
		return -ENOTUNIQ;
	if (all.alive)
		return -EBUSY;
	if (all.unknown && (flags & TSEM_FORCE) == 0)
		return -EXDEV;
	const struct record *record;
	struct found found;
	FOR_EACH_RECORD(sem, i, record) {
		if (!look_at(sem, i, named, HOLDS_AND_WAITS, &found))
			continue;
		if (found.liveness == LIVENESS_DEAD)
			recover_record(sem, i, permits);
		else if (found.liveness == LIVENESS_UNKNOWN && (flags & TSEM_FORCE) != 0)
			declare_dead(sem, i, found.owner, found.ticket, permits);
	}
	recover_front(sem, permits);
	return 0;
}

int
tsem_recover_owner(tsem *sem, pid_t pid, uint32_t pid_ns, unsigned flags, uint32_t *recovered)
{
	struct named named = {.pid = pid, .pid_ns = pid_ns};
	int rc = check(sem, &named);
	if (rc == 0 && (flags & ~TSEM_FORCE) != 0)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	uint32_t permits = 0;
	named.inner = inner_processes_read();
	rc = recover_named(sem, &named, flags, &permits);
	inner_processes_free(&named.inner);
	if (rc == 0 && recovered != NULL)
		*recovered = permits;
	return rc;
}

static int
cancel_named(struct tsem *sem, const struct named *named)
{
	const struct survey waits = survey(sem, named, WAITS);
	if (waits.several)
		return -ENOTUNIQ;
	bool any = false;
	const struct record *record;
	struct found found;
	FOR_EACH_RECORD(sem, i, record) {
		if (look_at(sem, i, named, WAITS, &found))
			any |= cancel_waiter(sem, i, found.ticket);
	}
	return any ? 0 : -ENOENT;
}

int
tsem_cancel_owner(tsem *sem, pid_t pid, uint32_t pid_ns)
{
	struct named named = {.pid = pid, .pid_ns = pid_ns};
	int rc = check(sem, &named);
	if (rc < 0)
		return rc;
	if (removal_notice(sem))
		return -EIDRM;
	named.inner = inner_processes_read();
	rc = cancel_named(sem, &named);
	inner_processes_free(&named.inner);
	return rc;
}
