/* SPDX-License-Identifier: MIT */
/* What is done to the holds and waits of one process, which a user names by its number. */
#include <errno.h>

#include "declare.h"
#include "owner.h"
#include "protocol.h"
#include "recover.h"
#include "recover_front.h"
#include "removal.h"

/* The process that the user means. */
struct named {
	pid_t pid;
	uint32_t pid_ns; /* 0: any */
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
	if (part == WAITS)
		return state_kind(state) == STATE_QUEUED && !is_enabled(sem, *ticket, LOAD_ACQ(&record->count));
	return state_kind(state) >= STATE_QUEUED && LOAD_ACQ(&record->until) != until_returned(*ticket);
}

/* Whether record `index` has a hold or a wait of the process. */
static bool
look_at(struct tsem *sem, uint32_t index, const struct named *named, enum part part, struct found *found)
{
	struct record *record = &sem->segment.records[index];
	const uint64_t owner = LOAD_ACQ(&record->owner);
	*found = (struct found){.index = index, .record = record, .owner = owner};
	if (owner == 0 || owner_kind(owner) == OWNER_KIND_ORPHAN || owner_pid(owner) != (uint32_t)named->pid
	    || (named->pid_ns != 0 && LOAD_ACQ(&record->pid_ns) != named->pid_ns))
		return false;
	found->liveness = owner_liveness(sem, record, owner);
	/* The owner again after the ticket, which is this owner's then. */
	return find_ticket(sem, found, part, &found->ticket) && LOAD_SEQ(&record->owner) == owner;
}

/* What there is of the process. The dead do not make a number ambiguous. */
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
may_recover(const struct survey *survey, unsigned flags)
{
	if (!survey->any)
		return -ENOENT;
	if (survey->several)
		return -ENOTUNIQ;
	if (survey->alive)
		return -EBUSY;
	return survey->unknown && (flags & TSEM_FORCE) == 0 ? -EXDEV : 0;
}

int
tsem_recover_owner(tsem *sem, pid_t pid, uint32_t pid_ns, unsigned flags, uint32_t *recovered)
{
	const struct named named = {.pid = pid, .pid_ns = pid_ns};
	int rc = check(sem, &named);
	if (rc == 0 && (flags & ~TSEM_FORCE) != 0)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	const struct survey all = survey(sem, &named, HOLDS_AND_WAITS);
	rc = may_recover(&all, flags);
	if (rc < 0)
		return rc;

	uint32_t permits = 0;
	const struct record *record;
	struct found found;
	FOR_EACH_RECORD(sem, i, record) {
		if (!look_at(sem, i, &named, HOLDS_AND_WAITS, &found))
			continue;
		if (found.liveness == LIVENESS_DEAD)
			recover_record(sem, i, &permits);
		else if (found.liveness == LIVENESS_UNKNOWN && (flags & TSEM_FORCE) != 0)
			declare_dead(sem, i, found.owner, found.ticket, &permits);
	}
	recover_front(sem, &permits);
	if (recovered != NULL)
		*recovered = permits;
	return 0;
}

int
tsem_cancel_owner(tsem *sem, pid_t pid, uint32_t pid_ns)
{
	const struct named named = {.pid = pid, .pid_ns = pid_ns};
	int rc = check(sem, &named);
	if (rc < 0)
		return rc;
	if (removal_check(sem))
		return -EIDRM;
	const struct survey waits = survey(sem, &named, WAITS);
	if (waits.several)
		return -ENOTUNIQ;

	bool any = false;
	const struct record *record;
	struct found found;
	FOR_EACH_RECORD(sem, i, record) {
		if (look_at(sem, i, &named, WAITS, &found))
			any |= declare_cancelled(sem, i, found.ticket);
	}
	return any ? 0 : -ENOENT;
}
