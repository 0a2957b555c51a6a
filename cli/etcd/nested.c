/* SPDX-License-Identifier: MIT */
#include "etcd/nested.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "etcd/credentials.h"
#include "etcd/owners.h"
#include "process.h"
#include "refusal.h"

/* What the process holds, by all its holds. */
struct sum {
	uint64_t count;
	int64_t fence; /* the highest one */
	size_t slots_n;
	uint32_t slots[TSEM_SLOTS_MAX];
};

static void
add(struct sum *sum, const struct entry *entry)
{
	const json_t *slots = json_object_get(entry->json, "slots");
	sum->count += entry->count;
	if (entry->create_revision > sum->fence)
		sum->fence = entry->create_revision;
	for (size_t i = 0; i < json_array_size(slots) && sum->slots_n < TSEM_SLOTS_MAX; i++)
		sum->slots[sum->slots_n++] = (uint32_t)json_integer_value(json_array_get(slots, i));
}

static void
sum_up(const struct owners *owners, pid_t pid, struct sum *sum)
{
	*sum = (struct sum){.count = 0};
	for (size_t i = 0; i < owners->n; i++) {
		if (entry_is_of(&owners->entries[i], pid))
			add(sum, &owners->entries[i]);
	}
}

/* 0: there is none. */
static pid_t
find_holder(const struct owners *owners, uint64_t least, struct sum *sum)
{
	enum { GENERATIONS_MAX = 256 };
	pid_t pid = getpid();
	for (int i = 0; pid > 0 && i < GENERATIONS_MAX; i++) {
		sum_up(owners, pid, sum);
		if (sum->count >= least)
			return pid;
		pid = process_parent(pid);
	}
	return 0;
}

void
nested_run(const struct options *o, char **command)
{
	struct semaphore_on_etcd sem;
	struct owners owners;
	struct sum sum;
	etcd_open(&sem, o);
	owners_find(&sem, o, OWNERS_HOLDERS, &owners);
	if (o->count == 0 && owners.config.capacity == 0)
		die_of_no_capacity(o);
	const pid_t holder = find_holder(&owners, o->count == 0 ? owners.config.capacity : o->count, &sum);
	owners_free(&owners);
	etcd_close(&sem);
	if (holder == 0)
		return;
	command_set_permits(o, o->name, sum.count, sum.slots, sum.slots_n);
	command_set_fence(sum.fence);
	credentials_hide();
	exit(command_become(o, command, holder));
}
