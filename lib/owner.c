/* SPDX-License-Identifier: MIT */
#include "owner.h"

#include "identity.h"
#include "platform.h"
#include "presence.h"

static uint64_t
recorded_start(const struct record *record, uint64_t owner)
{
	return owner_kind(owner) == OWNER_KIND_HANDED ? LOAD_ACQ(&record->start) : owner_start(owner);
}

struct process_id
owner_process_id(const struct record *record, uint64_t owner)
{
	return (struct process_id){
		.pid = owner_pid(owner),
		.start = recorded_start(record, owner),
		.pid_ns = LOAD_ACQ(&record->pid_ns),
	};
}

enum liveness
owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner)
{
	const struct header *header = sem->segment.header;
	if (owner_kind(owner) == OWNER_KIND_ORPHAN)
		return LIVENESS_DEAD;
	if (identity_is(owner))
		return LIVENESS_ALIVE;

	/*
	 * A record that was just claimed may still have the namespace of its last owner: its number says nothing then. The
	 * state and `start` are read before the namespace, which the owner writes before them.
	 */
	const bool mixed = LOAD_SEQ(&header->mixed_pid_ns) != 0;
	const bool idle = state_kind(LOAD_ACQ(&record->state)) == STATE_IDLE;
	const bool is_process = owner_kind(owner) == OWNER_KIND_PROCESS;
	if (mixed && idle && is_process && LOAD_ACQ(&record->start) != owner)
		return presence_judge(sem, record, owner);
	struct process_id process = owner_process_id(record, owner);
	if (!mixed)
		process.pid_ns = LOAD_ACQ(&header->pid_ns);
	if (is_process && !owner_may_be_in(owner, process.pid_ns))
		return presence_judge(sem, record, owner);
	const enum liveness verdict = (enum liveness)platform.judge(&process);
	return verdict == LIVENESS_UNKNOWN ? presence_judge(sem, record, owner) : verdict;
}

bool
owner_has_exited(const struct record *record, uint64_t owner)
{
	struct identity self;
	return identity_get(&self) == 0 && LOAD_ACQ(&record->pid_ns) == self.pid_ns
	       && has_exited((pid_t)owner_pid(owner), recorded_start(record, owner));
}
