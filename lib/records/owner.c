/* SPDX-License-Identifier: MIT */
#include "records/owner.h"

#include "records/presence.h"
#include "system/identity.h"
#include "system/platform.h"

struct process_id
owner_process_id(const struct record *record, uint64_t owner)
{
	return (struct process_id){
		.pid = owner_pid(owner),
		.start = owner_kind(owner) == OWNER_KIND_HANDED ? LOAD_ACQ(&record->start) : owner_start(owner),
		.pid_ns = LOAD_ACQ(&record->pid_ns),
	};
}

/*
 * Reads the owner as the record names it. False: its number says nothing, because the record was just claimed, and may
 * still have the namespace of its last owner. The state and `start` are read before the namespace, which the owner
 * writes before them.
 */
static bool
read_process(const struct header *header, const struct record *record, uint64_t owner, struct process_id *process)
{
	const bool mixed = LOAD_SEQ(&header->mixed_pid_ns) != 0;
	const bool idle = state_kind(LOAD_ACQ(&record->state)) == STATE_IDLE;
	const bool signed_by_owner = !mixed || !idle || LOAD_ACQ(&record->start) == owner;
	*process = owner_process_id(record, owner);
	if (!mixed)
		process->pid_ns = LOAD_ACQ(&header->pid_ns);
	return owner_kind(owner) != OWNER_KIND_PROCESS || (signed_by_owner && owner_may_be_in(owner, process->pid_ns));
}

enum liveness
owner_liveness(const struct tsem *sem, const struct record *record, uint64_t owner)
{
	if (owner_kind(owner) == OWNER_KIND_ORPHAN)
		return LIVENESS_DEAD;
	if (identity_is(owner))
		return LIVENESS_ALIVE;
	struct process_id process;
	enum liveness verdict = LIVENESS_UNKNOWN;
	if (read_process(sem->segment.header, record, owner, &process))
		verdict = (enum liveness)platform.judge(&process);
	return verdict == LIVENESS_UNKNOWN ? presence_judge(sem, record, owner) : verdict;
}

bool
owner_is_in_our_namespace(const struct record *record)
{
	struct identity self;
	return identity_get(&self) == 0 && LOAD_ACQ(&record->pid_ns) == self.pid_ns;
}
