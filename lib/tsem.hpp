/* SPDX-License-Identifier: MIT */
/*
 * libtsem for C++, from C++11 on: a semaphore and a hold that clean up after themselves. This header uses tsem.h only,
 * and needs no other library.
 *
 *     libtsem::semaphore sem = libtsem::semaphore::open("encode");
 *     libtsem::hold permit(sem);           // waits in the queue; the end of the scope releases it
 *
 *     libtsem::hold other(sem, std::defer_lock);
 *     if (other.try_lock_for(std::chrono::seconds(5)))
 *         ...
 *
 * A hold is TimedLockable in the sense of the standard, so std::unique_lock, std::lock_guard and std::lock() work with
 * it. It belongs to the process, not to a thread. Threads and processes share the semaphore; each has holds of its own.
 *
 * Errors are std::system_error with the error numbers of tsem.h in std::generic_category(), so they compare with
 * std::errc. A function whose last argument is a std::error_code stores the error there and throws nothing. A function
 * that tries returns false if it gets no permit (EAGAIN, ETIMEDOUT); this is no error.
 */
#ifndef TSEM_HPP
#define TSEM_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <cerrno>

#include "tsem.h"

namespace libtsem
{

namespace detail
{

inline std::error_code
error_of(int rc) noexcept
{
	return rc < 0 ? std::error_code(-rc, std::generic_category()) : std::error_code();
}

inline void
throw_if(const std::error_code &error, const char *what)
{
	if (error)
		throw std::system_error(error, what);
}

inline void
check(int rc, const char *what)
{
	throw_if(error_of(rc), what);
}

/* Whether a try has succeeded. A try that got no permit is no error. */
inline bool
has_got(int rc, std::error_code &error) noexcept
{
	error = rc == -EAGAIN || rc == -ETIMEDOUT ? std::error_code() : error_of(rc);
	return rc == 0;
}

/* Lets the C library call `each`. An exception of `each` waits until the library has returned. */
template <class Each, class Argument> class visitor
{
  public:
	explicit visitor(Each &each) noexcept : each_(each)
	{
	}

	static int call(Argument argument, void *self) noexcept
	{
		visitor &visitor_ = *static_cast<visitor *>(self);
		try {
			visitor_.each_(argument);
			return 0;
		} catch (...) {
			visitor_.thrown_ = std::current_exception();
			return -ECANCELED;
		}
	}

	void check(int rc, const char *what) const
	{
		if (thrown_)
			std::rethrow_exception(thrown_);
		detail::check(rc, what);
	}

  private:
	Each &each_;
	std::exception_ptr thrown_;
};

/* A deadline for the C library. std::chrono::steady_clock is CLOCK_MONOTONIC on Linux. */
class deadline
{
  public:
	template <class Duration> explicit deadline(const std::chrono::time_point<std::chrono::steady_clock, Duration> &at)
	{
		set(at.time_since_epoch());
	}

	template <class Rep, class Period> explicit deadline(const std::chrono::duration<Rep, Period> &from_now)
	{
		using clock = std::chrono::steady_clock;
		const std::chrono::duration<double> seconds = from_now;
		if (seconds.count() >= never)
			return;
		clock::duration wait = clock::duration::zero();
		if (seconds.count() > 0) {
			wait = std::chrono::duration_cast<clock::duration>(from_now);
			if (wait < from_now) /* rounded down: the deadline must not be early */
				++wait;
		}
		set(clock::now().time_since_epoch() + wait);
	}

	const struct timespec *get() const noexcept
	{
		return is_set ? &time_ : nullptr;
	}

  private:
	/* A deadline thirty years after the start of the machine means no deadline: a later one might not fit. */
	static constexpr double never = 1e9;

	template <class Rep, class Period> void set(const std::chrono::duration<Rep, Period> &since_start)
	{
		const std::chrono::duration<double> seconds = since_start;
		is_set = seconds.count() < never;
		if (!is_set || seconds.count() <= 0)
			return;
		const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since_start);
		const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since_start - whole);
		time_.tv_sec = static_cast<decltype(time_.tv_sec)>(whole.count());
		time_.tv_nsec = static_cast<decltype(time_.tv_nsec)>(rest.count());
	}

	struct timespec time_ = {};
	bool is_set = false;
};

} // namespace detail

/* A handle on one semaphore. The object may be moved, and must outlive its holds. */
class semaphore
{
  public:
	/* Has no handle; another semaphore may be assigned to it. */
	semaphore() noexcept = default;

	/* Takes over a handle of the C functions: the end of the object closes it. */
	explicit semaphore(::tsem *handle) noexcept : handle_(handle)
	{
	}

	semaphore(semaphore &&other) noexcept : handle_(other.release())
	{
	}

	semaphore &operator=(semaphore &&other) noexcept
	{
		if (this != &other) {
			::tsem_close(handle_);
			handle_ = other.release();
		}
		return *this;
	}

	semaphore(const semaphore &) = delete;
	semaphore &operator=(const semaphore &) = delete;

	~semaphore()
	{
		::tsem_close(handle_);
	}

	/* The arguments are the members of struct tsem_config. */
	static semaphore create(const char *name, std::uint32_t permits, unsigned flags = 0, std::uint32_t max = 0,
	                        ::mode_t mode = 0)
	{
		std::error_code error;
		semaphore made = create(name, config_of(permits, flags, max, mode), error);
		detail::throw_if(error, "tsem_create");
		return made;
	}

	static semaphore create(const char *name, const struct ::tsem_config &config, std::error_code &error) noexcept
	{
		::tsem *handle = nullptr;
		error = detail::error_of(::tsem_create(name, &config, &handle));
		return semaphore(handle);
	}

	static semaphore open(const char *name, unsigned flags = 0)
	{
		std::error_code error;
		semaphore opened = open(name, flags, error);
		detail::throw_if(error, "tsem_open");
		return opened;
	}

	static semaphore open(const char *name, unsigned flags, std::error_code &error) noexcept
	{
		::tsem *handle = nullptr;
		error = detail::error_of(::tsem_open(name, flags, &handle));
		return semaphore(handle);
	}

	/* A semaphore in memory of the program: the first function makes it, the second opens it. */
	static semaphore init_at(void *memory, std::size_t size, std::uint32_t permits, std::uint32_t max = 0)
	{
		::tsem *handle = nullptr;
		const struct ::tsem_config config = config_of(permits, 0, max, 0);
		detail::check(::tsem_init_at(memory, size, &config, &handle), "tsem_init_at");
		return semaphore(handle);
	}

	static semaphore open_at(void *memory, std::size_t size)
	{
		::tsem *handle = nullptr;
		detail::check(::tsem_open_at(memory, size, &handle), "tsem_open_at");
		return semaphore(handle);
	}

	static void remove(const char *name, unsigned flags = 0)
	{
		detail::check(::tsem_remove(name, flags), "tsem_remove");
	}

	/* The anonymous pair: no owner is recorded for the permits. */
	void take(std::uint32_t count = 1)
	{
		detail::check(::tsem_take(handle_, count, nullptr), "tsem_take");
	}

	bool try_take(std::uint32_t count = 1)
	{
		return in_time(::tsem_try_take(handle_, count), "tsem_take");
	}

	template <class Rep, class Period>
	bool try_take_for(const std::chrono::duration<Rep, Period> &time, std::uint32_t count = 1)
	{
		return in_time(::tsem_take(handle_, count, detail::deadline(time).get()), "tsem_take");
	}

	template <class Duration>
	bool try_take_until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time,
	                    std::uint32_t count = 1)
	{
		return in_time(::tsem_take(handle_, count, detail::deadline(time).get()), "tsem_take");
	}

	/* Waits as struct tsem_wait says. Here a deadline that has passed is an error. */
	void take(std::uint32_t count, const struct ::tsem_wait &wait, std::error_code &error) noexcept
	{
		error = detail::error_of(::tsem_take_wait(handle_, count, &wait));
	}

	/* Returns the number of permits that were available before. */
	std::uint32_t post(std::uint32_t count = 1)
	{
		std::uint32_t previous = 0;
		detail::check(::tsem_post(handle_, count, &previous), "tsem_post");
		return previous;
	}

	/* Posts one permit to `other` and takes one from this semaphore, in front of the processes that the post admits. */
	void take_posting_to(semaphore &other)
	{
		detail::check(::tsem_post_and_take(other.handle_, handle_), "tsem_post_and_take");
	}

	void take_posting_to(semaphore &other, const struct ::tsem_wait &wait, std::error_code &error) noexcept
	{
		error = detail::error_of(::tsem_post_and_take_wait(other.handle_, handle_, &wait));
	}

	/* Gives back the newest hold that was handed over to the process. */
	void release_for(::pid_t pid)
	{
		detail::check(::tsem_release_for(handle_, pid), "tsem_release_for");
	}

	void set(std::uint32_t permits)
	{
		detail::check(::tsem_set(handle_, permits), "tsem_set");
	}

	std::int64_t set_exact()
	{
		std::int64_t correction = 0;
		detail::check(::tsem_set_exact(handle_, &correction), "tsem_set_exact");
		return correction;
	}

	void wait_idle(unsigned flags = 0)
	{
		detail::check(::tsem_wait_idle(handle_, flags, nullptr), "tsem_wait_idle");
	}

	/* Returns whether the semaphore became idle in time. */
	template <class Rep, class Period>
	bool wait_idle_for(const std::chrono::duration<Rep, Period> &time, unsigned flags = 0)
	{
		return in_time(::tsem_wait_idle(handle_, flags, detail::deadline(time).get()), "tsem_wait_idle");
	}

	template <class Duration>
	bool wait_idle_until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time, unsigned flags = 0)
	{
		return in_time(::tsem_wait_idle(handle_, flags, detail::deadline(time).get()), "tsem_wait_idle");
	}

	void cancel()
	{
		detail::check(::tsem_cancel(handle_), "tsem_cancel");
	}

	/* Of one process. False: it does not wait. */
	bool cancel_owner(::pid_t pid, std::uint32_t pid_ns = 0)
	{
		const int rc = ::tsem_cancel_owner(handle_, pid, pid_ns);
		if (rc == -ENOENT)
			return false;
		detail::check(rc, "tsem_cancel_owner");
		return true;
	}

	struct ::tsem_stat stat() const
	{
		struct ::tsem_stat result = {};
		result.size = sizeof(result);
		detail::check(::tsem_stat(handle_, &result), "tsem_stat");
		return result;
	}

	/* Returns the number of permits that came back. */
	std::uint32_t recover()
	{
		std::uint32_t recovered = 0;
		detail::check(::tsem_recover(handle_, &recovered), "tsem_recover");
		return recovered;
	}

	/* Of one owner. With TSEM_FORCE, it is declared dead. */
	std::uint32_t recover_owner(::pid_t pid, std::uint32_t pid_ns = 0, unsigned flags = 0)
	{
		std::uint32_t recovered = 0;
		detail::check(::tsem_recover_owner(handle_, pid, pid_ns, flags, &recovered), "tsem_recover_owner");
		return recovered;
	}

	/*
	 * Calls each(owner) with a const tsem_owner & for every holder, and then for every waiter. An exception of `each`
	 * ends this. The memory that the owner points to is valid during the call.
	 */
	template <class Each> void owners(Each &&each) const
	{
		auto visit = [&each](const ::tsem_owner *owner) { each(*owner); };
		detail::visitor<decltype(visit), const ::tsem_owner *> visitor(visit);
		visitor.check(::tsem_owners(handle_, visitor.call, &visitor), "tsem_owners");
	}

	/* Does stat() and owners() for the same instant. */
	template <class Each> struct ::tsem_stat snapshot(Each &&each) const
	{
		struct ::tsem_stat result = {};
		result.size = sizeof(result);
		auto visit = [&each](const ::tsem_owner *owner) { each(*owner); };
		detail::visitor<decltype(visit), const ::tsem_owner *> visitor(visit);
		visitor.check(::tsem_snapshot(handle_, &result, visitor.call, &visitor), "tsem_snapshot");
		return result;
	}

	/* Calls each(name) with a const char * for every semaphore. */
	template <class Each> static void list(Each &&each)
	{
		auto visit = [&each](const char *name) { each(name); };
		detail::visitor<decltype(visit), const char *> visitor(visit);
		visitor.check(::tsem_list(visitor.call, &visitor), "tsem_list");
	}

	explicit operator bool() const noexcept
	{
		return handle_ != nullptr;
	}

	/* For the functions of tsem.h. The object still closes the handle. */
	::tsem *get() const noexcept
	{
		return handle_;
	}

	/* The object no longer closes the handle. */
	::tsem *release() noexcept
	{
		::tsem *handle = handle_;
		handle_ = nullptr;
		return handle;
	}

  private:
	static struct ::tsem_config config_of(std::uint32_t permits, unsigned flags, std::uint32_t max,
	                                      ::mode_t mode) noexcept
	{
		struct ::tsem_config config = {};
		config.size = sizeof(config);
		config.permits = permits;
		config.max = max;
		config.mode = mode;
		config.flags = flags;
		return config;
	}

	static bool in_time(int rc, const char *what)
	{
		std::error_code error;
		const bool got = detail::has_got(rc, error);
		detail::throw_if(error, what);
		return got;
	}

	::tsem *handle_ = nullptr;
};

/*
 * Permits that are recorded for this process until unlock(), the end of the object, or the end of the process. The
 * object may be moved, and only one thread at a time may use it. Its semaphore must outlive it, but may be moved.
 */
class hold
{
  public:
	/* Belongs to no semaphore; another hold may be assigned to it. */
	hold() noexcept = default;

	/* Waits in the queue for `count` permits. */
	explicit hold(semaphore &sem, std::uint32_t count = 1) : sem_(sem.get()), count_(count)
	{
		lock();
	}

	hold(semaphore &sem, std::defer_lock_t, std::uint32_t count = 1) noexcept : sem_(sem.get()), count_(count)
	{
	}

	hold(semaphore &sem, std::try_to_lock_t, std::uint32_t count = 1) : sem_(sem.get()), count_(count)
	{
		try_lock();
	}

	hold(hold &&other) noexcept : sem_(other.sem_), count_(other.count_), owns_(other.owns_), hold_(other.hold_)
	{
		other.owns_ = false;
	}

	hold &operator=(hold &&other) noexcept
	{
		if (this != &other) {
			end();
			sem_ = other.sem_;
			count_ = other.count_;
			owns_ = other.owns_;
			hold_ = other.hold_;
			other.owns_ = false;
		}
		return *this;
	}

	hold(const hold &) = delete;
	hold &operator=(const hold &) = delete;

	/* In a child of fork() this releases nothing: the parent still owns the hold. */
	~hold()
	{
		end();
	}

	void lock()
	{
		std::error_code error;
		lock(error);
		detail::throw_if(error, "tsem_acquire");
	}

	void lock(std::error_code &error) noexcept
	{
		error = detail::error_of(acquire(nullptr));
	}

	/* Waits as struct tsem_wait says. Here a deadline that has passed is an error. */
	void lock(const struct ::tsem_wait &wait, std::error_code &error) noexcept
	{
		error = detail::error_of(acquire(&wait));
	}

	bool try_lock()
	{
		std::error_code error;
		return got_or_throw(try_lock(error), error);
	}

	bool try_lock(std::error_code &error) noexcept
	{
		int rc = may_lock();
		if (rc == 0)
			rc = ::tsem_try_acquire(sem_, count_, &hold_);
		owns_ = owns_ || rc == 0;
		return detail::has_got(rc, error);
	}

	template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		std::error_code error;
		return got_or_throw(try_lock_for(time, error), error);
	}

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &time, std::error_code &error) noexcept
	{
		return try_lock_by(detail::deadline(time), error);
	}

	template <class Duration>
	bool try_lock_until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time)
	{
		std::error_code error;
		return got_or_throw(try_lock_until(time, error), error);
	}

	template <class Duration>
	bool try_lock_until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time,
	                    std::error_code &error) noexcept
	{
		return try_lock_by(detail::deadline(time), error);
	}

	/* Another clock may be set meanwhile: then the wait gives up its place in the queue and takes a new one. */
	template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
	{
		do {
			if (try_lock_for(time - Clock::now()))
				return true;
		} while (Clock::now() < time);
		return false;
	}

	void unlock()
	{
		std::error_code error;
		unlock(error);
		detail::throw_if(error, "tsem_release");
	}

	/* operation_not_permitted: the object holds nothing, or the parent of this process owns the hold. */
	void unlock(std::error_code &error) noexcept
	{
		error = detail::error_of(owns_ ? ::tsem_release(&hold_) : -EPERM);
		owns_ = false;
	}

	/* The hold now lasts as long as the process. The caller knows that the process lives. */
	void hand_over(::pid_t pid)
	{
		detail::check(owns_ ? ::tsem_hand_over(&hold_, pid) : -EPERM, "tsem_hand_over");
		owns_ = false;
	}

	/* For a process that tsem_find_process() has found. no_such_process: it has ended since. */
	void hand_over(const ::tsem_process &process)
	{
		detail::check(owns_ ? ::tsem_hand_over_to(&hold_, &process) : -EPERM, "tsem_hand_over_to");
		owns_ = false;
	}

	bool owns_lock() const noexcept
	{
		return owns_;
	}

	explicit operator bool() const noexcept
	{
		return owns_;
	}

	std::uint32_t count() const noexcept
	{
		return count_;
	}

	/* TSEM_NO_SLOT: the object holds nothing. */
	std::uint32_t slot() const noexcept
	{
		return owns_ ? ::tsem_hold_slot(&hold_) : TSEM_NO_SLOT;
	}

	/* One slot for each permit. */
	std::vector<std::uint32_t> slots() const
	{
		std::vector<std::uint32_t> result(owns_ ? count_ : 0);
		if (owns_)
			result.resize(::tsem_hold_slots(&hold_, result.data(), result.size()));
		return result;
	}

	/*
	 * Whether an owner has died since a holder was last told: the data that the semaphore protects may be incomplete.
	 * std::lock() gives back a permit if it cannot have all of them, and then no holder is told; acquire_all() passes
	 * it on.
	 */
	bool recovered() const noexcept
	{
		return owns_ && ::tsem_hold_recovered(&hold_);
	}

	/* Takes over a hold of the C functions. */
	hold(semaphore &sem, std::adopt_lock_t, const ::tsem_hold &got, std::uint32_t count = 1) noexcept
		: sem_(sem.get()), count_(count), owns_(true), hold_(got)
	{
	}

	/*
	 * Returns the hold, or a void one, for functions of tsem.h such as tsem_adopt(). The object no longer releases it.
	 */
	::tsem_hold release() noexcept
	{
		const ::tsem_hold given = owns_ ? hold_ : ::tsem_hold();
		owns_ = false;
		return given;
	}

	using semaphores = std::vector<std::reference_wrapper<semaphore>>;

	/* Acquires one permit of each, or throws and has acquired none. No order of `sems` leads to a deadlock. */
	static std::vector<hold> acquire_all(const semaphores &sems)
	{
		std::error_code error;
		std::vector<hold> result = acquire_all(sems, nullptr, error);
		detail::throw_if(error, "tsem_acquire_all");
		return result;
	}

	/* Waits as `wait` says, if it is not null. After an error the result is empty. */
	static std::vector<hold> acquire_all(const semaphores &sems, const struct ::tsem_wait *wait, std::error_code &error)
	{
		const std::vector<::tsem *> handles = handles_of(sems);
		std::vector<::tsem_hold> got(handles.size());
		std::vector<hold> result(handles.size());
		error = detail::error_of(::tsem_acquire_all(handles.data(), handles.size(), wait, got.data()));
		if (error)
			result.clear();
		for (std::size_t i = 0; i < result.size(); i++)
			result[i] = hold(handles[i], got[i]);
		return result;
	}

	/* Acquires one permit of the semaphore that grants it first; `which` receives its index. */
	static hold acquire_any(const semaphores &sems, std::size_t &which)
	{
		std::error_code error;
		hold result = acquire_any(sems, nullptr, which, error);
		detail::throw_if(error, "tsem_acquire_any");
		return result;
	}

	/* Waits as `wait` says, if it is not null. After an error the result belongs to no semaphore. */
	static hold acquire_any(const semaphores &sems, const struct ::tsem_wait *wait, std::size_t &which,
	                        std::error_code &error)
	{
		const std::vector<::tsem *> handles = handles_of(sems);
		::tsem_hold got;
		error = detail::error_of(::tsem_acquire_any(handles.data(), handles.size(), wait, &got, &which));
		return error ? hold() : hold(handles[which], got);
	}

  private:
	hold(::tsem *sem, const ::tsem_hold &got) noexcept : sem_(sem), owns_(true), hold_(got)
	{
	}

	static std::vector<::tsem *> handles_of(const semaphores &sems)
	{
		std::vector<::tsem *> handles;
		for (const semaphore &sem : sems)
			handles.push_back(sem.get());
		return handles;
	}

	/* The errors are those of std::unique_lock. */
	int may_lock() const noexcept
	{
		return sem_ == nullptr ? -EPERM : owns_ ? -EDEADLK : 0;
	}

	int acquire(const struct ::tsem_wait *wait) noexcept
	{
		int rc = may_lock();
		if (rc == 0)
			rc = ::tsem_acquire_wait(sem_, count_, wait, &hold_);
		owns_ = owns_ || rc == 0;
		return rc;
	}

	bool try_lock_by(const detail::deadline &deadline, std::error_code &error) noexcept
	{
		struct ::tsem_wait wait = {};
		wait.size = sizeof(wait);
		wait.deadline = deadline.get();
		return detail::has_got(acquire(&wait), error);
	}

	static bool got_or_throw(bool got, const std::error_code &error)
	{
		detail::throw_if(error, "tsem_acquire");
		return got;
	}

	void end() noexcept
	{
		if (owns_)
			::tsem_release(&hold_);
		owns_ = false;
	}

	::tsem *sem_ = nullptr;
	std::uint32_t count_ = 1;
	bool owns_ = false;
	::tsem_hold hold_ = {};
};

} // namespace libtsem

#endif
