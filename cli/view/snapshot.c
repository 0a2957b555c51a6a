/* SPDX-License-Identifier: MIT */
#include "view/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
open_for_viewing(const char *name, tsem **sem)
{
	return tsem_open(name, TSEM_READ_ONLY | TSEM_FOREIGN, sem);
}

static int
add_owner(const struct tsem_owner *owner, void *arg)
{
	struct snapshot *snapshot = arg;
	if (snapshot->n == snapshot->room) {
		const size_t room = snapshot->room == 0 ? 64 : snapshot->room * 2;
		struct tsem_owner *owners = realloc(snapshot->owners, room * sizeof(*owners));
		if (owners == NULL)
			return -ENOMEM;
		snapshot->owners = owners;
		snapshot->room = room;
	}
	struct tsem_owner *added = &snapshot->owners[snapshot->n++];
	*added = *owner;
	added->slots = snapshot->slots + snapshot->slots_n;
	if (added->slot_count > TSEM_SLOTS_MAX - snapshot->slots_n)
		added->slot_count = (uint32_t)(TSEM_SLOTS_MAX - snapshot->slots_n);
	memcpy(snapshot->slots + snapshot->slots_n, owner->slots, added->slot_count * sizeof(*owner->slots));
	snapshot->slots_n += added->slot_count;
	return 0;
}

static void
find_reason(struct snapshot *snapshot)
{
	snapshot->reason = (struct reason){.kind = REASON_NONE};
	for (size_t i = 0; i < snapshot->n && !reason_note(&snapshot->reason, &snapshot->owners[i]); i++)
		continue;
	reason_conclude(&snapshot->reason, &snapshot->stat, 1);
}

int
snapshot_take(tsem *sem, struct snapshot *snapshot)
{
	if (snapshot->slots == NULL && (snapshot->slots = calloc(TSEM_SLOTS_MAX, sizeof(*snapshot->slots))) == NULL)
		return -ENOMEM;
	snapshot->n = 0;
	snapshot->slots_n = 0;
	snapshot->stat.size = sizeof(snapshot->stat);
	const int rc = tsem_snapshot(sem, &snapshot->stat, add_owner, snapshot);
	if (rc == 0)
		find_reason(snapshot);
	return rc;
}

int
snapshot_of(const char *name, struct snapshot *snapshot)
{
	tsem *sem;
	int rc = open_for_viewing(name, &sem);
	if (rc < 0)
		return rc;
	rc = snapshot_take(sem, snapshot);
	tsem_close(sem);
	return rc;
}

struct participant
snapshot_participant(const struct snapshot *snapshot, size_t i)
{
	return (struct participant){&snapshot->owners[i], snapshot->remotes == NULL ? NULL : &snapshot->remotes[i]};
}

void
snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->owners);
	for (size_t i = 0; snapshot->remotes != NULL && i < snapshot->n; i++) {
		free(snapshot->remotes[i].host);
		free(snapshot->remotes[i].command);
	}
	free(snapshot->remotes);
	free(snapshot->slots);
	*snapshot = (struct snapshot){.n = 0};
}
