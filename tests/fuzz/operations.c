/* SPDX-License-Identifier: MIT */
#include "operations.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "hostile_peer.h"
#include "more.h"
#include "protocol/handle.h"
#include "target.h"

/* ---- results ---- */

static const int known_errors[] = {
	0,      EAGAIN, ETIMEDOUT, ECANCELED, EIDRM, EOVERFLOW, ENOENT, EPERM,           EINVAL,
	ENOSPC, EUSERS, EBADMSG,   EBUSY,     EXDEV, ESRCH,     EEXIST, EPROTONOSUPPORT,
};

int
checked(const char *state, int rc)
{
	for (size_t i = 0; i < sizeof(known_errors) / sizeof(known_errors[0]); i++) {
		if (rc == -known_errors[i])
			return rc;
	}
	broken(state, rc);
}

tsem_hold *
latest_hold(struct session *session)
{
	return &session->holds[session->next % HOLDS_MAX];
}

tsem_hold *
another_hold(struct session *session)
{
	session->next++;
	tsem_hold *hold = latest_hold(session);
	checked("tsem_release", tsem_release(hold));
	*hold = (tsem_hold){{0}};
	return hold;
}

/* ---- operations ---- */

static void
try_take(struct session *session, uint32_t count)
{
	checked("tsem_try_take", tsem_try_take(session->sem, count));
}

static void
take(struct session *session, uint32_t count)
{
	const struct timespec deadline = target_deadline();
	checked("tsem_take", tsem_take(session->sem, count, &deadline));
}

static void
post(struct session *session, uint32_t count)
{
	uint32_t previous;
	checked("tsem_post", tsem_post(session->sem, count, &previous));
}

static void
try_acquire(struct session *session, uint32_t count)
{
	checked("tsem_try_acquire", tsem_try_acquire(session->sem, count, another_hold(session)));
}

static void
acquire(struct session *session, uint32_t count)
{
	const struct timespec deadline = target_deadline();
	checked("tsem_acquire", tsem_acquire(session->sem, count, &deadline, another_hold(session)));
}

static int
look_at_position(void *arg, uint32_t position)
{
	uint32_t *calls = arg;
	if (position > RECORDS_MAX + 1)
		broken("position in the queue", position);
	return ++*calls > 2;
}

static void
acquire_impatiently(struct session *session, uint32_t count)
{
	const struct timespec deadline = target_deadline();
	uint32_t calls = 0;
	const struct tsem_wait wait = {
		.size = sizeof(wait),
		.deadline = &deadline,
		.flags = TSEM_INTERRUPTIBLE,
		.progress = look_at_position,
		.arg = &calls,
		.every_ms = count & 1, /* 0: the library does not look up the position */
	};
	checked("tsem_acquire_wait", tsem_acquire_wait(session->sem, count, &wait, another_hold(session)));
}

static void
release(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_release", tsem_release(latest_hold(session)));
}

static void
hand_over_to_self(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_hand_over", tsem_hand_over(latest_hold(session), getpid()));
}

static void
hand_over_to_parent(struct session *session, uint32_t count)
{
	tsem_process parent;
	if ((count & 1) != 0)
		checked("tsem_hand_over", tsem_hand_over(latest_hold(session), getppid()));
	else if (checked("tsem_find_process", tsem_find_process(getppid(), &parent)) == 0)
		checked("tsem_lend", tsem_lend(latest_hold(session), &parent));
}

static void
release_for_self(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_release_for", tsem_release_for(session->sem, getpid()));
}

static void
release_for_parent(struct session *session, uint32_t count)
{
	if ((count & 1) != 0)
		checked("tsem_release_for", tsem_release_for(session->sem, getppid()));
	else
		checked("tsem_release", tsem_release(latest_hold(session)));
}

/* As a child would do it: the record seems to belong to another process. */
static void
adopt(struct session *session, uint32_t count)
{
	struct hold *hold = (struct hold *)(void *)latest_hold(session);
	(void)count;
	if (hold->sem == 0)
		return;
	_Atomic uint64_t *owner = &session->sem->segment.records[hold->record].owner;
	STORE_SEQ(owner, owner_process(PID_ALIVE, LOAD_SEQ(owner)));
	checked("tsem_adopt", tsem_adopt(latest_hold(session)));
}

static void
reap(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_reap", tsem_reap(latest_hold(session), 0));
}

static void
recover(struct session *session, uint32_t count)
{
	uint32_t recovered;
	(void)count;
	checked("tsem_recover", tsem_recover(session->sem, &recovered));
}

static void
look_at_state(struct session *session, uint32_t count)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	(void)count;
	uint64_t available;
	checked("tsem_available", tsem_available(session->sem, &available));
	if (checked("tsem_stat", tsem_stat(session->sem, &stat)) == 0 && stat.waiting > RECORDS_MAX)
		broken("waiters", stat.waiting);
}

struct seen {
	uint32_t position;
	uint32_t stop;
};

static int
look_at_owner(const struct tsem_owner *owner, void *arg)
{
	struct seen *seen = arg;
	if (owner->position != 0 ? owner->position != seen->position + 1 : seen->position != 0)
		broken("order of owners", owner->position);
	seen->position = owner->position;
	if ((unsigned)owner->alive > TSEM_UNKNOWN || owner->pid < 0 || owner->remaining_ns < -1)
		broken("an owner", owner->pid);
	return seen->stop != 0 && --seen->stop == 0 ? -ECANCELED : 0;
}

static void
look_at_owners(struct session *session, uint32_t count)
{
	struct seen seen = {.stop = count};
	checked("tsem_owners", tsem_owners(session->sem, look_at_owner, &seen));
}

static void
open_again(struct session *session, uint32_t count)
{
	tsem *other;
	if (checked("tsem_open", tsem_open(session->name, (count & 1) != 0 ? TSEM_READ_ONLY : 0, &other)) != 0)
		return;
	struct session second = {.sem = other, .name = session->name};
	look_at_state(&second, 0);
	look_at_owners(&second, 0);
	tsem_close(other);
}

static void
create_or_open(struct session *session, uint32_t count)
{
	const struct tsem_config config = {
		.size = sizeof(config),
		.permits = count == 0 ? 1 : count,
		.flags = TSEM_EXIST_OK,
	};
	checked("tsem_create", tsem_create(session->name, &config, NULL));
}

static void
remove_if_unused(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_remove", tsem_remove(session->name, 0));
}

static void
remove_by_force(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_remove", tsem_remove(session->name, TSEM_FORCE));
}

static void
unlink_name(struct session *session, uint32_t count)
{
	(void)count;
	checked("tsem_unlink", tsem_unlink(session->name, 0));
}

/* The corpus depends on this order: append only. */
static void (*const operations[])(struct session *session, uint32_t count) = {
	try_take,
	take,
	post,
	try_acquire,
	acquire,
	acquire_impatiently,
	release,
	hand_over_to_self,
	release_for_self,
	hand_over_to_parent,
	release_for_parent,
	adopt,
	reap,
	recover,
	look_at_state,
	look_at_owners,
	open_again,
	create_or_open,
	remove_if_unused,
	remove_by_force,
	more_set,
	more_cancel,
	more_wait_idle,
	more_acquire_all,
	more_acquire_any,
	more_post_and_take,
	more_slots,
	more_snapshot,
	more_take_wait,
	more_reap_abandoned,
	more_embedded,
	more_init_embedded,
	unlink_name,
};

const size_t operations_count = sizeof(operations) / sizeof(operations[0]);

void
operate(struct session *session, size_t operation, uint32_t count)
{
	target_new_operation();
	operations[operation % operations_count](session, count);
}
