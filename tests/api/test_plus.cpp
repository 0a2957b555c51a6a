/* SPDX-License-Identifier: MIT */
/* tsem.hpp: a semaphore, a hold, and their scopes. */
#include "tsem.hpp"

#include "support.h"

#include <cstdlib>
#include <exception>
#include <functional>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

using libtsem::hold;
using libtsem::semaphore;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

static_assert(!std::is_copy_constructible<hold>::value && !std::is_copy_assignable<hold>::value, "move-only");
static_assert(!std::is_copy_constructible<semaphore>::value && !std::is_copy_assignable<semaphore>::value, "move-only");
static_assert(std::is_nothrow_move_constructible<hold>::value && std::is_nothrow_move_assignable<hold>::value, "");
static_assert(std::is_nothrow_move_constructible<semaphore>::value, "");
static_assert(std::is_nothrow_move_assignable<semaphore>::value, "");
/* A temporary semaphore would be destroyed before its hold. */
static_assert(!std::is_constructible<hold, semaphore &&>::value, "");

/* The error that the action throws, or none. */
template <class Action>
static std::error_code
error_of(Action action)
{
	try {
		action();
	} catch (const std::system_error &error) {
		return error.code();
	}
	return std::error_code();
}

#define THROWS(action, expected) assert_true(error_of([&] { action; }) == (expected))

/* An unexpected exception ends the program, after the names are removed. */
static void
say_and_exit()
{
	try {
		throw;
	} catch (const std::exception &exception) {
		print_error("Bail out! %s\n", exception.what());
	}
	exit(99);
}

/* In a child: holds a permit until a process waits. */
static int
hold_until_someone_waits(void *arg)
{
	semaphore &sem = *static_cast<semaphore *>(arg);
	const hold permit(sem);
	EVENTUALLY(stat_of(sem.get()).waiting > 0);
	return 0;
}

TEST(released_at_the_end_of_the_scope)
{
	semaphore sem = semaphore::create(fresh_name(), 3);
	{
		const hold permits(sem, 2);
		assert_true(permits.owns_lock() && permits.count() == 2);
		assert_int_equal(stat_of(sem.get()).held, 2);
		assert_int_equal(tsem_hold_slots(permits.get(), nullptr, 0), 2);
		assert_int_equal(tsem_hold_slot(permits.get()), 0);
	}
	assert_int_equal(stat_of(sem.get()).held, 0);
	try {
		const hold permit(sem);
		throw std::runtime_error("left half-way");
	} catch (const std::runtime_error &) {
		assert_int_equal(stat_of(sem.get()).held, 0);
	}
}

TEST(with_the_locks_of_the_standard)
{
	semaphore one = semaphore::create(fresh_name(), 1);
	semaphore two = semaphore::create(fresh_name(), 1);
	hold first(one, std::defer_lock);
	hold second(two, std::defer_lock);
	{
		const std::lock_guard<hold> guard(first);
		assert_int_equal(stat_of(one.get()).held, 1);
	}
	assert_int_equal(stat_of(one.get()).held, 0);

	std::unique_lock<hold> lock(first, milliseconds(1));
	assert_true(lock.owns_lock());
	hold third(one, std::defer_lock);
	std::unique_lock<hold> other(third, std::try_to_lock);
	assert_false(other.owns_lock());
	assert_false(other.try_lock_for(milliseconds(1)));
	assert_false(other.try_lock_until(steady_clock::now() + milliseconds(1)));
	assert_false(other.try_lock_until(std::chrono::system_clock::now() + milliseconds(1)));
	lock.unlock();
	assert_true(other.try_lock_until(std::chrono::system_clock::now() - milliseconds(1)));
	other.unlock();

	std::lock(first, second);
	assert_true(stat_of(one.get()).held == 1 && stat_of(two.get()).held == 1);
	first.unlock();
	second.unlock();
	assert_true(stat_of(one.get()).held == 0 && stat_of(two.get()).held == 0);
}

/* Times that are too large mean for ever; times before the epoch have passed. */
TEST(extreme_times)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	hold permit(sem, std::defer_lock);
	const std::function<bool()> long_waits[] = {
		[&] { return permit.try_lock_for(hours::max()); },
		[&] { return permit.try_lock_for(std::chrono::duration<double>(1e300)); },
		[&] { return permit.try_lock_until(steady_clock::time_point::max()); },
		[&] { return permit.try_lock_until(std::chrono::time_point<steady_clock, hours>::max()); },
		[&] { return permit.try_lock_for(std::chrono::minutes(2)); },
	};
	for (const auto &wait : long_waits) {
		const pid_t child = start_child(hold_until_someone_waits, &sem);
		EVENTUALLY(stat_of(sem.get()).held == 1);
		assert_true(wait());
		permit.unlock();
		assert_int_equal(end_of_child(child), 0);
	}
	const hold other(sem);
	assert_false(permit.try_lock_for(hours::min()));
	assert_false(permit.try_lock_for(std::chrono::duration<float>(-1e30F)));
	assert_false(permit.try_lock_until(steady_clock::time_point::min()));
	assert_false(permit.try_lock_until(steady_clock::time_point()));
}

TEST(errors)
{
	const char *name = fresh_name();
	THROWS(semaphore::open(name), std::errc::no_such_file_or_directory);
	assert_false(static_cast<bool>(semaphore()));
	semaphore sem = semaphore::create(name, 1, 0, 1);
	THROWS(semaphore::create(name, 1), std::errc::file_exists);
	assert_true(static_cast<bool>(semaphore::create(name, 1, TSEM_EXIST_OK)));
	THROWS(sem.post(), std::errc::value_too_large);

	hold none;
	THROWS(none.lock(), std::errc::operation_not_permitted);
	THROWS(none.try_lock(), std::errc::operation_not_permitted);
	THROWS(none.unlock(), std::errc::operation_not_permitted);
	assert_int_equal(tsem_hold_slot(none.get()), TSEM_NO_SLOT);
	hold permit(sem);
	THROWS(permit.lock(), std::errc::resource_deadlock_would_occur);
	THROWS(permit.try_lock(), std::errc::resource_deadlock_would_occur);
	THROWS(permit.try_lock_for(hours(1)), std::errc::resource_deadlock_would_occur);
	assert_true(permit.owns_lock());

	hold second(sem, std::try_to_lock);
	assert_false(second.owns_lock());
	assert_false(second.try_lock());
	assert_false(second.try_lock_for(milliseconds(0)));
	THROWS(hold(sem, 2), std::errc::invalid_argument);

	permit.unlock();
	THROWS(permit.unlock(), std::errc::operation_not_permitted);
	assert_int_equal(tsem_remove(name, 0), 0);
	THROWS(permit.lock(), std::errc::identifier_removed);
	THROWS(permit.try_lock(), std::errc::identifier_removed);
	THROWS(permit.try_lock_for(hours(1)), std::errc::identifier_removed);
	assert_false(permit.owns_lock());
	THROWS(sem.take(), std::errc::identifier_removed);
	THROWS(sem.try_take(), std::errc::identifier_removed);
	THROWS(sem.try_take_for(hours(1)), std::errc::identifier_removed);
}

static hold
a_hold_of(semaphore &sem)
{
	return hold(sem);
}

TEST(moving)
{
	semaphore sem = semaphore::create(fresh_name(), 3);
	hold first = a_hold_of(sem);
	hold second = std::move(first);
	assert_true(second.owns_lock() && stat_of(sem.get()).held == 1);
	assert_int_equal(tsem_hold_slot(first.get()), TSEM_NO_SLOT);
	THROWS(first.unlock(), std::errc::operation_not_permitted);
	hold third(sem, 2);
	third = std::move(second); /* and the two of the parent come back */
	assert_true(third.owns_lock() && third.count() == 1);
	assert_int_equal(stat_of(sem.get()).held, 1);
	hold &same = third;
	third = std::move(same);
	assert_int_equal(stat_of(sem.get()).held, 1);

	std::vector<hold> many;
	many.push_back(std::move(third));
	for (int i = 0; i < 2; i++)
		many.emplace_back(sem);
	assert_int_equal(stat_of(sem.get()).held, 3);
	semaphore moved = std::move(sem);
	assert_false(static_cast<bool>(sem));
	many.clear();
	assert_int_equal(stat_of(moved.get()).held, 0);
	moved = semaphore::create(fresh_name(), 7);
	assert_int_equal(stat_of(moved.get()).permits, 7);
	semaphore again(moved.release());
	assert_int_equal(stat_of(again.get()).permits, 7);
}

static int
leave_the_scope_of_a_copy(void *arg)
{
	const hold copy(std::move(*static_cast<hold *>(arg)));
	return copy.owns_lock() ? 0 : 1;
}

static int
unlock_a_copy(void *arg)
{
	hold &parents = *static_cast<hold *>(arg);
	hold copy(std::move(parents));
	CHECK(error_of([&] { copy.unlock(); }) == std::errc::operation_not_permitted);
	return 0;
}

TEST(a_child_releases_nothing)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	hold permit(sem);
	assert_int_equal(end_of_child(start_child(leave_the_scope_of_a_copy, &permit)), 0);
	assert_int_equal(stat_of(sem.get()).held, 1);
	assert_int_equal(end_of_child(start_child(unlock_a_copy, &permit)), 0);
	assert_int_equal(stat_of(sem.get()).held, 1);
	assert_true(permit.owns_lock());
}

struct cancelled {
	const char *name;
	bool left;
};

/* Destructors are noexcept: a cancellation there would end the program. */
static void *
leave_scope_cancelled(void *arg)
{
	struct cancelled &seen = *static_cast<struct cancelled *>(arg);
	{
		semaphore sem = semaphore::open(seen.name);
		const hold permit(sem);
		pthread_cancel(pthread_self());
	}
	seen.left = true;
	pthread_testcancel();
	return nullptr;
}

TEST(a_cancelled_thread_leaves_its_scopes)
{
	struct cancelled seen = {fresh_name(), false};
	semaphore sem = semaphore::create(seen.name, 1);
	pthread_t thread;
	void *result = nullptr;
	assert_int_equal(pthread_create(&thread, nullptr, leave_scope_cancelled, &seen), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(seen.left);
	assert_int_equal(stat_of(sem.get()).held, 0);
}

TEST(anonymous_use)
{
	semaphore sem = semaphore::create(fresh_name(), 2, 0, 5);
	sem.take(2);
	assert_false(sem.try_take());
	assert_false(sem.try_take_for(milliseconds(1)));
	assert_false(sem.try_take_until(steady_clock::now()));
	assert_int_equal(sem.post(2), 0);
	assert_int_equal(sem.post(), 2);
	assert_true(sem.try_take(3));
}

TEST(given_to_c_and_back)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	hold permit(sem);
	tsem_hold inside = permit.release();
	assert_false(permit.owns_lock());
	assert_int_equal(stat_of(sem.get()).held, 1);
	{
		const hold again(sem, std::adopt_lock, inside);
		assert_true(again.owns_lock());
	}
	assert_int_equal(stat_of(sem.get()).held, 0);
	permit.lock();
	inside = permit.release();
	tsem_process parent;
	assert_int_equal(tsem_find_process(getppid(), &parent), 0);
	assert_int_equal(tsem_lend(&inside, &parent), 0);
	assert_int_equal(tsem_release_for(sem.get(), getppid()), -ENOENT);
	assert_int_equal(tsem_release(&inside), 0);
	permit.lock();
	inside = permit.release();
	assert_int_equal(tsem_hand_over(&inside, getppid()), 0);
	assert_int_equal(tsem_release_for(sem.get(), getppid()), 0);
	assert_int_equal(stat_of(sem.get()).held, 0);
}

static int
hold_an_object_until_killed(void *arg)
{
	const hold permit(*static_cast<semaphore *>(arg));
	return stay_until_killed(nullptr);
}

TEST(dead_holders)
{
	semaphore sem = semaphore::create(fresh_name(), 1);
	const pid_t child = start_child(hold_an_object_until_killed, &sem);
	EVENTUALLY(stat_of(sem.get()).held == 1);
	kill_child(child);
	hold permit(sem);
	assert_true(tsem_hold_recovered(permit.get()));
	permit.unlock();
	permit.lock();
	assert_false(tsem_hold_recovered(permit.get()));
}

TEST(in_own_memory)
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
	return run_all_tests(110);
}
