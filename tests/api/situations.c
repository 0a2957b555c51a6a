/* SPDX-License-Identifier: MIT */
/* Calls every function of the library in a thread for which pthread_cancel() is pending. */
#include "situations.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS_AT_FIRST = 64, ADOPTED = 77 };

/* Calls a function while the cancellation is pending. Returns false from the caller if the result is another one. */
#define CALL(expected, call)                     \
	do {                                         \
		setup->line = __LINE__;                  \
		setup->returned = false;                 \
		pthread_cancel(pthread_self());          \
		const bool same_ = (call) == (expected); \
		setup->returned = true;                  \
		if (!same_)                              \
			return false;                        \
	} while (0)

static const struct timespec long_ago;

static const struct tsem_config one_permit = {.size = sizeof(one_permit), .permits = 1};

/* ---- functions of the program that the library calls: each is a cancellation point ---- */

static int
test_and_give_up(void *calls, uint32_t position)
{
	(void)position;
	pthread_testcancel();
	++*(int *)calls;
	return 1;
}

static int
test_at_owner(const struct tsem_owner *owner, void *calls)
{
	(void)owner;
	pthread_testcancel();
	++*(int *)calls;
	return 0;
}

static int
test_at_name(const char *name, void *calls)
{
	(void)name;
	pthread_testcancel();
	++*(int *)calls;
	return 0;
}

/* ---- handles and names ---- */

static bool
create(struct setup *setup)
{
	tsem *sem = NULL;
	struct tsem_config config = one_permit;
	CALL(0, tsem_create(setup->unused, &config, &sem));
	CALL(-EEXIST, tsem_create(setup->unused, &config, NULL));
	config.flags = TSEM_EXIST_OK;
	CALL(0, tsem_create(setup->unused, &config, NULL));
	tsem_close(sem);
	return tsem_remove(setup->unused, 0) == 0;
}

static bool
open_(struct setup *setup)
{
	tsem *sem = NULL;
	CALL(0, tsem_open(setup->name, 0, &sem));
	tsem_close(sem);
	CALL(0, tsem_open(setup->name, TSEM_READ_ONLY, &sem));
	tsem_close(sem);
	CALL(-ENOENT, tsem_open(setup->unused, 0, &sem));
	return true;
}

static bool
close_(struct setup *setup)
{
	tsem *sem = NULL;
	if (tsem_open(setup->name, 0, &sem) != 0)
		return false;
	CALL(0, (tsem_close(sem), 0));
	CALL(0, (tsem_close(NULL), 0));
	return true;
}

static bool
remove_(struct setup *setup)
{
	if (tsem_create(setup->unused, &one_permit, NULL) != 0)
		return false;
	CALL(0, tsem_remove(setup->unused, 0));
	CALL(-ENOENT, tsem_remove(setup->unused, 0));
	return true;
}

static bool
fail_to_remove(struct setup *setup)
{
	CALL(-EBUSY, tsem_remove(setup->name, 0));
	return true;
}

static bool
remove_locked(struct setup *setup)
{
	CALL(0, tsem_remove(setup->unused, 0));
	return true;
}

static bool
remove_by_force(struct setup *setup)
{
	tsem *sem;
	CALL(-EBADMSG, tsem_open(setup->unused, 0, &sem));
	CALL(0, tsem_remove(setup->unused, TSEM_FORCE));
	return true;
}

static bool
unlink_(struct setup *setup)
{
	if (tsem_create(setup->unused, &one_permit, NULL) != 0)
		return false;
	CALL(0, tsem_unlink(setup->unused, 0));
	CALL(-ENOENT, tsem_unlink(setup->unused, 0));
	return true;
}

static bool
in_own_memory(struct setup *setup)
{
	const size_t size = tsem_size_at(1);
	void *memory = shared_memory(size);
	tsem *sem = NULL;
	CALL(true, tsem_size_at(1) == size);
	CALL(0, tsem_init_at(memory, size, &one_permit, &sem));
	tsem_close(sem);
	CALL(0, tsem_open_at(memory, size, &sem));
	tsem_close(sem);
	munmap(memory, size);
	return true;
}

/* ---- take and post ---- */

static bool
take(struct setup *setup)
{
	CALL(0, tsem_take(setup->sem, 1, NULL));
	CALL(0, tsem_post(setup->sem, 1, NULL));
	return true;
}

static bool
take_after_recovery(struct setup *setup)
{
	CALL(0, tsem_take(setup->sem, 1, NULL));
	return true;
}

static bool
take_fails(struct setup *setup)
{
	const struct timespec soon = deadline_in(5);
	CALL(-ETIMEDOUT, tsem_take(setup->sem, 1, &long_ago));
	CALL(-ETIMEDOUT, tsem_take(setup->sem, 1, &soon));
	return true;
}

static bool
take_wait(struct setup *setup)
{
	int calls = 0;
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = test_and_give_up, .arg = &calls, .every_ms = 1};
	CALL(-ECANCELED, tsem_take_wait(setup->sem, 1, &wait));
	return calls == 1;
}

static bool
try_take(struct setup *setup)
{
	CALL(-EAGAIN, tsem_try_take(setup->sem, 1));
	return true;
}

static bool
try_take_after_recovery(struct setup *setup)
{
	CALL(0, tsem_try_take(setup->sem, 1));
	return true;
}

static bool
post(struct setup *setup)
{
	CALL(0, tsem_post(setup->sem, 1, NULL));
	return true;
}

static bool
post_two(struct setup *setup)
{
	CALL(0, tsem_post(setup->sem, 2, NULL));
	return true;
}

static bool
post_and_take(struct setup *setup)
{
	CALL(0, tsem_post_and_take(setup->sem, setup->sem));
	return true;
}

static bool
post_and_take_fails(struct setup *setup)
{
	int calls = 0;
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = test_and_give_up, .arg = &calls, .every_ms = 1};
	CALL(-ECANCELED, tsem_post_and_take_wait(setup->other, setup->sem, &wait));
	return calls == 1;
}

/* ---- acquire and release ---- */

static bool
acquire(struct setup *setup)
{
	tsem_hold hold;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	CALL(0, tsem_release(&hold));
	return true;
}

/* One more than the records of a new semaphore. */
static bool
acquire_many(struct setup *setup)
{
	tsem_hold holds[RECORDS_AT_FIRST + 1];
	for (size_t i = 0; i <= RECORDS_AT_FIRST; i++)
		CALL(0, tsem_acquire(setup->sem, 1, NULL, &holds[i]));
	for (size_t i = 0; i <= RECORDS_AT_FIRST; i++)
		CALL(0, tsem_release(&holds[i]));
	return true;
}

static bool
acquire_fails(struct setup *setup)
{
	tsem_hold hold;
	const struct timespec soon = deadline_in(5);
	CALL(-ETIMEDOUT, tsem_acquire(setup->sem, 1, &long_ago, &hold));
	CALL(-ETIMEDOUT, tsem_acquire(setup->sem, 1, &soon, &hold));
	return true;
}

static bool
acquire_wait(struct setup *setup)
{
	tsem_hold hold;
	int calls = 0;
	struct tsem_wait wait = {.size = sizeof(wait), .progress = test_and_give_up, .arg = &calls, .every_ms = 1};
	CALL(-ECANCELED, tsem_acquire_wait(setup->sem, 1, &wait, &hold));
	wait.every_ms = 0;
	CALL(-ECANCELED, tsem_acquire_wait(setup->sem, 1, &wait, &hold));
	return calls == 2;
}

static bool
try_acquire(struct setup *setup)
{
	tsem_hold hold;
	CALL(-EAGAIN, tsem_try_acquire(setup->sem, 1, &hold));
	return true;
}

static bool
acquire_after_recovery(struct setup *setup)
{
	tsem_hold hold;
	CALL(0, tsem_try_acquire(setup->sem, 1, &hold));
	CALL(true, tsem_hold_recovered(&hold));
	CALL(0, tsem_release(&hold));
	return true;
}

static bool
acquire_and_drop(struct setup *setup)
{
	tsem_hold hold;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	return true;
}

static bool
acquire_all(struct setup *setup)
{
	tsem *const sems[] = {setup->sem, setup->other};
	tsem_hold holds[2];
	CALL(0, tsem_acquire_all(sems, 2, NULL, holds));
	CALL(0, tsem_release(&holds[0]));
	CALL(0, tsem_release(&holds[1]));
	return true;
}

static bool
acquire_all_fails(struct setup *setup)
{
	tsem *const sems[] = {setup->sem, setup->other};
	tsem_hold holds[2];
	int calls = 0;
	const struct tsem_wait wait = {.size = sizeof(wait), .progress = test_and_give_up, .arg = &calls, .every_ms = 1};
	CALL(-ECANCELED, tsem_acquire_all(sems, 2, &wait, holds));
	return calls == 1 && stat_of(setup->other).available == 1;
}

static bool
acquire_any(struct setup *setup)
{
	tsem *const sems[] = {setup->sem, setup->other};
	tsem_hold hold;
	size_t which = 2;
	CALL(0, tsem_acquire_any(sems, 2, NULL, &hold, &which));
	CALL(0, tsem_release(&hold));
	return which == 1;
}

static bool
acquire_any_fails(struct setup *setup)
{
	tsem *const sems[] = {setup->sem, setup->other};
	tsem_hold hold;
	size_t which;
	int calls = 0;
	struct tsem_wait wait = {.size = sizeof(wait), .deadline = &long_ago};
	CALL(-ETIMEDOUT, tsem_acquire_any(sems, 2, &wait, &hold, &which));
	wait = (struct tsem_wait){.size = sizeof(wait), .progress = test_and_give_up, .arg = &calls, .every_ms = 1};
	CALL(-ECANCELED, tsem_acquire_any(sems, 2, &wait, &hold, &which));
	return calls == 1 && stat_of(setup->other).waiting == 0;
}

/* The test must not be cancelled while it waits for other processes. */
static void
await_waiters(tsem *sem, uint32_t waiting)
{
	const struct timespec give_up = deadline_in(10000);
	int before;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	while (stat_of(sem).waiting != waiting && !deadline_has_passed(&give_up))
		pause_a_moment();
	pthread_setcancelstate(before, NULL);
}

static bool
release_to_another_process(struct setup *setup)
{
	tsem_hold hold;
	if (tsem_acquire(setup->sem, 1, NULL, &hold) != 0)
		return false;
	start_child(hold_until_killed, setup->sem); /* the key ends with the thread */
	await_waiters(setup->sem, 1);
	CALL(0, tsem_release(&hold));
	return true;
}

static bool
slots(struct setup *setup)
{
	tsem_hold hold;
	uint32_t slot = TSEM_NO_SLOT;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	CALL(0, tsem_hold_slot(&hold));
	CALL(1, tsem_hold_slots(&hold, &slot, 1));
	CALL(0, tsem_release(&hold));
	return slot == 0;
}

/* ---- another owner ---- */

static bool
hand_over(struct setup *setup)
{
	tsem_hold hold;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	CALL(0, tsem_hand_over(&hold, setup->processes[0]));
	CALL(0, tsem_release_for(setup->sem, setup->processes[0]));
	return true;
}

static bool
hand_over_to(struct setup *setup)
{
	struct tsem_process process;
	tsem_hold hold;
	CALL(0, tsem_find_process(setup->processes[0], &process));
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	CALL(0, tsem_hand_over_to(&hold, &process));
	CALL(0, tsem_release_for(setup->sem, setup->processes[0]));
	return true;
}

static bool
lend(struct setup *setup)
{
	tsem_process process;
	tsem_hold hold;
	CALL(0, tsem_find_process(setup->processes[0], &process));
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	CALL(0, tsem_lend(&hold, &process));
	CALL(-EBUSY, tsem_reap(&hold, 0));
	CALL(0, tsem_release(&hold));
	return true;
}

/* How the child ended that should have adopted the hold. */
static int
end_of(pid_t child)
{
	int cancel_state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	await_zombie(child);
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	pthread_setcancelstate(cancel_state, NULL);
	return info.si_status;
}

/* The child inherits the pending cancellation. */
static bool
adopt(struct setup *setup)
{
	tsem_hold hold;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	const pid_t child = fork();
	if (child == 0)
		_exit(tsem_adopt(&hold) == 0 ? ADOPTED : 1);
	CALL(ADOPTED, end_of(child));
	CALL(0, tsem_reap(&hold, 0));
	return true;
}

/* The child of vfork() shares the thread of its parent. */
static bool
adopt_after_vfork(struct setup *setup)
{
	static tsem_hold hold;
	CALL(0, tsem_acquire(setup->sem, 1, NULL, &hold));
	const pid_t child = vfork();
	if (child == 0)
		_exit(tsem_adopt(&hold) == 0 ? ADOPTED : 1);
	CALL(ADOPTED, end_of(child));
	CALL(0, tsem_reap(&hold, TSEM_ABANDONED));
	return true;
}

/* ---- other functions ---- */

static bool
set(struct setup *setup)
{
	CALL(0, tsem_set(setup->sem, 2));
	CALL(0, tsem_set(setup->sem, 0));
	CALL(0, tsem_set(setup->sem, 1));
	return true;
}

static bool
set_access(struct setup *setup)
{
	CALL(0, tsem_set_access(setup->sem, 0640, getegid()));
	CALL(0, tsem_set_access(setup->sem, 0600, (gid_t)-1));
	return true;
}

static bool
set_exact(struct setup *setup)
{
	int64_t correction = 0;
	CALL(0, tsem_set_exact(setup->sem, NULL));
	CALL(0, tsem_post(setup->sem, 2, NULL));
	CALL(0, tsem_set_exact(setup->sem, &correction));
	return correction == -2;
}

static bool
idle(struct setup *setup)
{
	const struct timespec soon = deadline_in(5);
	CALL(-ETIMEDOUT, tsem_wait_idle(setup->sem, 0, &soon));
	CALL(0, tsem_wait_idle(setup->other, TSEM_HOLDERS, NULL));
	return true;
}

static bool
cancel_all(struct setup *setup)
{
	CALL(0, tsem_cancel(setup->sem));
	await_waiters(setup->sem, 0);
	return true;
}

/* That of this process, which does not wait itself. */
static bool
cancel_one(struct setup *setup)
{
	CALL(-ENOENT, tsem_cancel_owner(setup->sem, getpid(), 0));
	return true;
}

static bool
recover_one(struct setup *setup)
{
	uint32_t recovered = 0;
	CALL(-EBUSY, tsem_recover_owner(setup->sem, setup->processes[0], 0, TSEM_FORCE, &recovered));
	return recovered == 0;
}

static bool
recover(struct setup *setup)
{
	uint32_t recovered = 0;
	CALL(0, tsem_recover(setup->sem, &recovered));
	return recovered == 1;
}

static bool
look_at(struct setup *setup, tsem *sem)
{
	struct tsem_stat stat = {.size = sizeof(stat)};
	int calls = 0;
	uint64_t available = 99;
	CALL(0, tsem_available(sem, &available));
	CALL(0, tsem_stat(sem, &stat));
	CALL(0, tsem_owners(sem, test_at_owner, &calls));
	CALL(0, tsem_snapshot(sem, &stat, test_at_owner, &calls));
	return calls == 2 && available == stat.available;
}

static bool
look(struct setup *setup)
{
	return look_at(setup, setup->sem);
}

/* A read-only handle maps nothing: each call reads the file. */
static bool
read_only(struct setup *setup)
{
	tsem *sem = NULL;
	CALL(0, tsem_open(setup->name, TSEM_READ_ONLY, &sem));
	const bool looked = look_at(setup, sem);
	CALL(0, (tsem_close(sem), 0));
	return looked;
}

static bool
list(struct setup *setup)
{
	int calls = 0;
	CALL(0, tsem_list(test_at_name, &calls));
	return calls >= 2;
}

static bool
errors_and_times(struct setup *setup)
{
	CALL(0, strcmp(tsem_strerror(-EIO), strerror(EIO)));
	CALL(true, tsem_deadline(1000).tv_sec > 0);
	return true;
}

/* ---- the table ---- */

const struct situation situations[] = {
	{"tsem_create", "new, and there", nothing, create, 0},
	{"tsem_open", "there, and not", nothing, open_, 0},
	{"tsem_open", "no semaphore", no_semaphore_at_all, remove_by_force, 0},
	{"tsem_close", "", nothing, close_, 0},
	{"tsem_remove", "", nothing, remove_, 0},
	{"tsem_remove", "locked", locked, remove_locked, 0},
	{"tsem_remove", "held", held, fail_to_remove, 1},
	{"tsem_remove", "no semaphore", no_semaphore_at_all, remove_by_force, 0},
	{"tsem_unlink", "", nothing, unlink_, 0},
	{"tsem_size_at", "", nothing, in_own_memory, 0},
	{"tsem_init_at", "", nothing, in_own_memory, 0},
	{"tsem_open_at", "", nothing, in_own_memory, 0},
	{"tsem_take", "at once", nothing, take, 0},
	{"tsem_take", "held", held, take_fails, 1},
	{"tsem_take", "held by a dead process", held_by_a_dead_process, take_after_recovery, 1},
	{"tsem_take_wait", "held", held, take_wait, 1},
	{"tsem_try_take", "held", held, try_take, 1},
	{"tsem_try_take", "held by a dead process", held_by_a_dead_process, try_take_after_recovery, 1},
	{"tsem_post", "nothing taken", nothing, take, 0},
	{"tsem_post", "waited for", waited_for, post, 1},
	{"tsem_post", "with a place given up", waited_for_and_given_up, post_two, 1},
	{"tsem_post_and_take", "", nothing, post_and_take, 0},
	{"tsem_post_and_take_wait", "held", held, post_and_take_fails, 1},
	{"tsem_acquire", "at once", nothing, acquire, 0},
	{"tsem_acquire", "more than there are records", capacity_raised, acquire_many, 0},
	{"tsem_acquire", "held", held, acquire_fails, 1},
	{"tsem_acquire", "held by a dead process", held_by_a_dead_process, acquire_and_drop, 1},
	{"tsem_acquire", "held without a first thread", held_without_first_thread, acquire_fails, 1},
	{"tsem_acquire_wait", "held", held, acquire_wait, 1},
	{"tsem_try_acquire", "held", held, try_acquire, 1},
	{"tsem_try_acquire", "held by a dead process", held_by_a_dead_process, acquire_after_recovery, 0},
	{"tsem_try_acquire", "held without a first thread", held_without_first_thread, try_acquire, 1},
	{"tsem_try_acquire", "lent to a dead process", lent_to_a_dead_process, acquire_after_recovery, 0},
	{"tsem_acquire_all", "at once", nothing, acquire_all, 0},
	{"tsem_acquire_all", "one held", held, acquire_all_fails, 1},
	{"tsem_acquire_any", "one held", held, acquire_any, 1},
	{"tsem_acquire_any", "both held", both_held, acquire_any_fails, 1},
	{"tsem_release", "at once", nothing, acquire, 0},
	{"tsem_release", "waited for", nothing, release_to_another_process, 1},
	{"tsem_release", "lent", process_beside, lend, 0},
	{"tsem_hold_recovered", "", held_by_a_dead_process, acquire_after_recovery, 0},
	{"tsem_hold_slot", "", nothing, slots, 0},
	{"tsem_hold_slots", "", nothing, slots, 0},
	{"tsem_hand_over", "", process_beside, hand_over, 0},
	{"tsem_release_for", "", process_beside, hand_over, 0},
	{"tsem_find_process", "", process_beside, hand_over_to, 0},
	{"tsem_hand_over_to", "", process_beside, hand_over_to, 0},
	{"tsem_lend", "", process_beside, lend, 0},
	{"tsem_adopt", "after fork()", nothing, adopt, 0},
	{"tsem_adopt", "after vfork()", nothing, adopt_after_vfork, 0},
	{"tsem_reap", "a child", nothing, adopt, 0},
	{"tsem_reap", "a live process", process_beside, lend, 0},
	{"tsem_set", "", nothing, set, 0},
	{"tsem_set_access", "", nothing, set_access, 0},
	{"tsem_set_exact", "", nothing, set_exact, 0},
	{"tsem_wait_idle", "held", held, idle, 1},
	{"tsem_cancel", "waited for", waited_for, cancel_all, 1},
	{"tsem_cancel_owner", "", held, cancel_one, 1},
	{"tsem_recover", "held by a dead process", held_by_a_dead_process, recover, 0},
	{"tsem_recover_owner", "held", held, recover_one, 1},
	{"tsem_available", "held", held, look, 1},
	{"tsem_stat", "held", held, look, 1},
	{"tsem_owners", "held", held, look, 1},
	{"tsem_snapshot", "held", held, look, 1},
	{"tsem_stat", "held, read only", held, read_only, 1},
	{"tsem_list", "", nothing, list, 0},
	{"tsem_strerror", "", nothing, errors_and_times, 0},
	{"tsem_deadline", "", nothing, errors_and_times, 0},
};

const size_t situation_count = sizeof(situations) / sizeof(situations[0]);

bool
needs_vfork(const struct situation *situation)
{
	return situation->act == adopt_after_vfork;
}
