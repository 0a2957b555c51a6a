/* SPDX-License-Identifier: MIT */
/* tsem_lend, and tsem_release of a loan: a hold for a command whose end the caller watches, as a jobserver does. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static tsem_process
found(pid_t pid)
{
	tsem_process process;
	assert_int_equal(tsem_find_process(pid, &process), 0);
	return process;
}

static void
lend(tsem *sem, uint32_t count, pid_t pid, tsem_hold *hold)
{
	const tsem_process process = found(pid);
	assert_int_equal(tsem_acquire(sem, count, NULL, hold), 0);
	assert_int_equal(tsem_lend(hold, &process), 0);
}

/* The counts tell the holds apart: in any order, the right one is given back. */
TEST(each_loan_ends_by_itself)
{
	static const size_t order[] = {1, 2, 0};
	static const uint32_t held[] = {5, 1, 0};
	tsem *sem = new_semaphore(7, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	tsem_hold holds[3];
	lend(sem, 1, child, &holds[0]);
	lend(sem, 2, child, &holds[1]);
	lend(sem, 4, child, &holds[2]);
	assert_int_equal(stat_of(sem).held, 7);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tsem_release(&holds[order[i]]), 0);
		assert_int_equal(tsem_release(&holds[order[i]]), -EPERM);
		assert_int_equal(stat_of(sem).held, held[i]);
	}
	kill_child(child);
	tsem_close(sem);
}

/*
 * `tsem release --owner PID` of a script must not end the permit of a job, and a jobserver must not end a hold of the
 * process itself.
 */
TEST(loans_and_handed_over_holds_are_separate)
{
	tsem *sem = new_semaphore(7, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	tsem_hold older, own, newer;
	lend(sem, 1, child, &older);
	assert_int_equal(tsem_acquire(sem, 2, NULL, &own), 0);
	assert_int_equal(tsem_hand_over(&own, child), 0);
	lend(sem, 4, child, &newer);
	assert_int_equal(tsem_release_for(sem, child), 0);
	assert_int_equal(stat_of(sem).held, 5);
	assert_int_equal(tsem_release_for(sem, child), -ENOENT);
	assert_int_equal(tsem_release(&newer), 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&older), 0);
	assert_int_equal(stat_of(sem).held, 0);
	kill_child(child);
	tsem_close(sem);
}

struct loan {
	tsem *sem;
	pid_t to;
};

static int
lend_and_end(void *arg)
{
	const struct loan *loan = arg;
	tsem_hold hold;
	lend(loan->sem, 1, loan->to, &hold);
	return 0;
}

static int
adopt(void *hold)
{
	return -tsem_adopt(hold);
}

static int
release(void *hold)
{
	return -tsem_release(hold);
}

static int
leave_a_scope(void *hold)
{
	TSEM_SCOPED_HOLD(scoped);
	scoped = *(const tsem_hold *)hold;
	return tsem_hold_recovered(&scoped);
}

/* The hold lasts as long as the borrower. */
TEST(a_loan_outlives_its_lender)
{
	tsem *sem = new_semaphore(1, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	struct loan loan = {.sem = sem, .to = child};
	assert_int_equal(end_of_child(start_child(lend_and_end, &loan)), 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	assert_int_equal(stat_of(sem).held, 1);
	kill_child(child);
	assert_int_equal(tsem_recover(sem, NULL), 0);
	expect_at_rest(sem, 1);
	tsem_close(sem);
}

TEST(a_loan_ends_with_its_scope)
{
	tsem *sem = new_semaphore(1, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	{
		TSEM_SCOPED_HOLD(scoped);
		lend(sem, 1, child, &scoped);
		assert_int_equal(stat_of(sem).held, 1);
	}
	assert_int_equal(stat_of(sem).held, 0);
	kill_child(child);
	tsem_close(sem);
}

TEST(a_lent_hold_has_no_other_use)
{
	tsem *sem = new_semaphore(1, 0);
	const pid_t child = start_child(stay_until_killed, NULL);
	const tsem_process process = found(child), never_found = {{0}};
	tsem_hold hold, void_hold = {{0}};
	assert_int_equal(tsem_lend(&void_hold, &process), -EPERM);
	assert_int_equal(tsem_release(&void_hold), -EPERM);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	assert_int_equal(tsem_lend(&hold, &never_found), -ESRCH);
	assert_int_equal(tsem_lend(&hold, &process), 0);
	assert_int_equal(tsem_lend(&hold, &process), -EPERM);
	assert_int_equal(tsem_hand_over(&hold, child), -EPERM);
	assert_int_equal(tsem_reap(&hold, 0), -EBUSY);
	/* A forked child has a copy of the hold, which must not work there. */
	assert_int_equal(end_of_child(start_child(adopt, &hold)), EPERM);
	assert_int_equal(end_of_child(start_child(release, &hold)), EPERM);
	assert_int_equal(end_of_child(start_child(leave_a_scope, &hold)), 0);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&hold), 0);
	assert_int_equal(stat_of(sem).held, 0);
	kill_child(child);
	tsem_close(sem);
}

static int
end_when_asked(void *arg)
{
	const int *fds = arg;
	char byte;
	close(fds[1]);
	return read(fds[0], &byte, 1) != 0;
}

enum end { ENDS_BY_ITSELF, IS_KILLED };

/* Whether the next holder is told of the end, although a third process sees the end first. */
static bool
learns_of_the_end(enum end end, int (*give)(tsem_hold *, const tsem_process *))
{
	tsem *sem = new_semaphore(1, 0);
	tsem_hold hold, next;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	const pid_t child = start_child(end_when_asked, fds);
	assert_int_equal(tsem_acquire(sem, 1, NULL, &hold), 0);
	const tsem_process process = found(child);
	assert_int_equal(give(&hold, &process), 0);
	if (end == IS_KILLED)
		kill(child, SIGKILL);
	close(fds[1]);
	await_zombie(child);
	assert_int_equal(tsem_try_acquire(sem, 1, &next), 0);
	const bool result = tsem_hold_recovered(&next);
	/* The loan has ended, and tsem_release() takes nothing from the next holder. */
	assert_int_equal(tsem_release(&hold), give == tsem_lend ? 0 : -EPERM);
	assert_int_equal(stat_of(sem).held, 1);
	assert_int_equal(tsem_release(&next), 0);
	end_of_child(child);
	close(fds[0]);
	tsem_close(sem);
	return result;
}

TEST(only_a_killed_borrower_abandons_a_loan)
{
	assert_false(learns_of_the_end(ENDS_BY_ITSELF, tsem_lend));
	assert_true(learns_of_the_end(IS_KILLED, tsem_lend));
	assert_true(learns_of_the_end(ENDS_BY_ITSELF, tsem_hand_over_to));
}
