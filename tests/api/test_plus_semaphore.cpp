/* SPDX-License-Identifier: MIT */
/* tsem.hpp: operations on a semaphore other than holds, and on several of them. */
#include "plus.hpp"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

using std::chrono::milliseconds;
using std::chrono::steady_clock;

static int
hold_an_object_until_killed(void *arg)
{
	const hold permit(*static_cast<semaphore *>(arg));
	return stay_until_killed(nullptr);
}

static void
all_or_none(void **)
{
	semaphore one = semaphore::create(fresh_name(), 1);
	semaphore two = semaphore::create(fresh_name(), 1);
	{
		const std::vector<hold> both = hold::acquire_all({two, one});
		assert_true(both.size() == 2 && one.stat().held == 1 && two.stat().held == 1);
	}
	assert_true(one.stat().held == 0 && two.stat().held == 0);
	THROWS(hold::acquire_all({one, two, one}), std::errc::invalid_argument);
	assert_true(one.stat().held == 0 && two.stat().held == 0);
}

static int
give_up(void *, uint32_t)
{
	return 1;
}

static struct tsem_wait
short_wait()
{
	struct tsem_wait wait = {};
	wait.size = sizeof(wait);
	wait.progress = give_up;
	return wait;
}

static void
any_of_several(void **)
{
	semaphore one = semaphore::create(fresh_name(), 1);
	semaphore two = semaphore::create(fresh_name(), 1);
	std::size_t which = 9;
	std::error_code error;
	const struct tsem_wait wait = short_wait();
	{
		const hold first = hold::acquire_any({one, two}, which);
		assert_true(first.owns_lock() && which == 0 && one.stat().held == 1 && two.stat().held == 0);
		const hold second = hold::acquire_any({one, two}, which);
		assert_true(second.owns_lock() && which == 1 && two.stat().held == 1);
		assert_false(hold::acquire_any({one, two}, &wait, which, error).owns_lock());
		assert_true(error == std::errc::operation_canceled && which == 1);
		assert_true(hold::acquire_all({one, two}, &wait, error).empty());
		assert_true(error == std::errc::operation_canceled);
		assert_true(one.stat().waiting == 0 && two.stat().waiting == 0);
	}
	assert_true(one.stat().held == 0 && two.stat().held == 0);
	THROWS(hold::acquire_any({one, one}, which), std::errc::invalid_argument);
}

static void
anonymous_use(void **)
{
	semaphore sem = semaphore::create(fresh_name(), 2, 0, 5);
	sem.take(2);
	assert_false(sem.try_take());
	assert_false(sem.try_take_for(milliseconds(1)));
	assert_false(sem.try_take_until(steady_clock::now()));
	assert_int_equal(sem.post(2), 0);
	assert_int_equal(sem.post(), 2);
	assert_true(sem.try_take(3));
	sem.post(2);
	sem.wait_idle();
	assert_true(sem.wait_idle_for(milliseconds(1)));
	sem.take();
	assert_false(sem.wait_idle_for(milliseconds(1)));
	assert_false(sem.wait_idle_until(steady_clock::now(), TSEM_HOLDERS));
	sem.post();
	sem.set(0);
	assert_int_equal(sem.stat().capacity, 0);
}

static void
posting_and_taking_at_once(void **)
{
	semaphore full = semaphore::create(fresh_name(), 1);
	semaphore empty = semaphore::create(fresh_name(), 0);
	full.take_posting_to(empty);
	assert_true(full.stat().available == 0 && empty.stat().available == 1);
	std::error_code error;
	const struct tsem_wait wait = short_wait();
	full.take_posting_to(empty, wait, error);
	assert_true(error == std::errc::operation_canceled && empty.stat().available == 2);
	full.take(1, wait, error);
	assert_true(error == std::errc::operation_canceled);
}

struct enough {
};

static void
reading(void **)
{
	const std::string name = fresh_name();
	semaphore sem = semaphore::create(name.c_str(), 3);
	const hold permits(sem, 2);
	const hold permit(sem);
	std::vector<std::uint32_t> counts;
	sem.owners([&](const tsem_owner &owner) { counts.push_back(owner.count); });
	assert_true(counts == std::vector<std::uint32_t>({2, 1}));
	counts.clear();
	const struct tsem_stat stat = sem.snapshot([&](const tsem_owner &owner) { counts.push_back(owner.count); });
	assert_true(stat.held == 3 && counts == std::vector<std::uint32_t>({2, 1}));

	/* An exception passes through the library, and ends the enumeration. */
	int seen = 0;
	try {
		sem.owners([&](const tsem_owner &) {
			seen++;
			throw enough();
		});
		fail_msg("nothing was thrown");
	} catch (const enough &) {
		assert_int_equal(seen, 1);
	}
	seen = 0;
	semaphore::list([&](const char *each) { seen += name == each; });
	assert_int_equal(seen, 1);
}

/* Functions of C without a C++ form. */
static void
given_to_c_and_back(void **)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	hold permit(sem);
	tsem_hold inside = permit.release();
	assert_false(permit.owns_lock());
	assert_int_equal(sem.stat().held, 1);
	{
		const hold again(sem, std::adopt_lock, inside);
		assert_true(again.owns_lock());
	}
	assert_int_equal(sem.stat().held, 0);
	permit.lock();
	inside = permit.release();
	tsem_process parent;
	assert_int_equal(tsem_find_process(getppid(), &parent), 0);
	assert_int_equal(tsem_lend(&inside, &parent), 0);
	THROWS(sem.release_for(getppid()), std::errc::no_such_file_or_directory);
	assert_int_equal(tsem_release(&inside), 0);
	permit.lock();
	permit.hand_over(getppid());
	sem.release_for(getppid());
	assert_int_equal(sem.stat().held, 0);
}

static void
dead_holders(void **)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	const pid_t child = start_child(hold_an_object_until_killed, &sem);
	EVENTUALLY(sem.stat().held == 1);
	kill_child(child);
	hold permit(sem);
	assert_true(permit.recovered());
	permit.unlock();
	permit.lock();
	assert_false(permit.recovered());
	permit.unlock();
	const pid_t another = start_child(hold_an_object_until_killed, &sem);
	EVENTUALLY(sem.stat().held == 1);
	assert_int_equal(sem.recover(), 0);
	THROWS(sem.recover_owner(another), std::errc::device_or_resource_busy);
	assert_false(sem.cancel_owner(another));
	kill_child(another);
	assert_int_equal(sem.recover(), 1);
}

static void
in_own_memory(void **)
{
	const size_t size = tsem_size_at(4);
	void *memory = shared_memory(size);
	THROWS(semaphore::open_at(memory, size), std::errc::bad_message);
	{
		semaphore sem = semaphore::init_at(memory, size, 1);
		semaphore again = semaphore::open_at(memory, size);
		const hold permit(sem);
		assert_false(hold(again, std::try_to_lock).owns_lock());
	}
	munmap(memory, size);
}

int
main()
{
	std::set_terminate(say_and_exit);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_or_none),   cmocka_unit_test(any_of_several),
		cmocka_unit_test(anonymous_use), cmocka_unit_test(posting_and_taking_at_once),
		cmocka_unit_test(reading),       cmocka_unit_test(given_to_c_and_back),
		cmocka_unit_test(dead_holders),  cmocka_unit_test(in_own_memory),
	};
	support_start(60);
	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
