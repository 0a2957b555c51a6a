/* SPDX-License-Identifier: MIT */
/*
 * libtsem for C++, from C++11 on: a semaphore and a hold that clean up after themselves. Everything is here, on top of
 * tsem.h; there is nothing else to link.
 *
 *     libtsem::semaphore sem = libtsem::semaphore::open("encode");
 *     libtsem::hold permit(sem);           // waits in line, and is released at the end of the scope
 *
 *     libtsem::hold other(sem, std::defer_lock);
 *     if (other.try_lock_for(std::chrono::seconds(5)))
 *         ...
 *
 * A hold is what the standard calls TimedLockable, so std::unique_lock, std::lock_guard and std::lock() work with it. It
 * belongs to the process, not to a thread: the standard's locks are for passing on who unlocks, and the semaphore, not the
 * hold, is what threads and processes share.
 *
 * Errors are std::system_error with the error numbers of tsem.h in std::generic_category(), so they compare with
 * std::errc; functions with a std::error_code as their last argument store it there and throw nothing. That there was no
 * permit (EAGAIN, ETIMEDOUT) is no error of a function that tries: it returns false.
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

/* Whether a try has succeeded; that there was no permit is no error. */
inline bool
has_got(int rc, std::error_code &error) noexcept
{
	error = rc == -EAGAIN || rc == -ETIMEDOUT ? std::error_code() : error_of(rc);
	return rc == 0;
}

/* Lets the C library call `each`: what that throws waits until the library has returned. */
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

/* A deadline as the library wants it. std::chrono::steady_clock is CLOCK_MONOTONIC on Linux. */
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
			if (wait < from_now) /* never too early */
				++wait;
		}
		set(clock::now().time_since_epoch() + wait);
	}

	const struct timespec *get() const noexcept
	{
		return is_set ? &time_ : nullptr;
	}

  private:
	/* So many seconds, some thirty years, from the start of the machine are for ever; more might not fit. */
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

/* A handle on one semaphore. It may be moved, and must outlive its holds. */
class semaphore
{
  public:
	/* Without a handle: usable for being assigned to. */
	semaphore() noexcept = default;

	/* Takes over a handle of the C functions, and closes it in the end. */
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

	/* The fields of struct tsem_config, of which the size is filled in here. */
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

	/* In memory of one's own: made there, or made there by somebody else. */
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

	/* The anonymous pair: nobody is recorded as having the permits. */
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

	/* In a way of tsem.h: with progress, interruptible. That its deadline has passed is an error here. */
	void take(std::uint32_t count, const struct ::tsem_wait &wait, std::error_code &error) noexcept
	{
		error = detail::error_of(::tsem_take_wait(handle_, count, &wait));
	}

	/* Returns how many were available before. */
	std::uint32_t post(std::uint32_t count = 1)
	{
		std::uint32_t previous = 0;
		detail::check(::tsem_post(handle_, count, &previous), "tsem_post");
		return previous;
	}

	/* Posts one permit to the other semaphore, and takes one of this, with nobody in between who came in by the post. */
	void take_posting_to(semaphore &other)
	{
		detail::check(::tsem_post_and_take(other.handle_, handle_), "tsem_post_and_take");
	}

	void take_posting_to(semaphore &other, const struct ::tsem_wait &wait, std::error_code &error) noexcept
	{
		error = detail::error_of(::tsem_post_and_take_wait(other.handle_, handle_, &wait));
	}

	/* Gives back the newest hold that was handed over to that process. */
	void release_for(::pid_t pid)
	{
		detail::check(::tsem_release_for(handle_, pid), "tsem_release_for");
	}

	void set(std::uint32_t permits)
	{
		detail::check(::tsem_set(handle_, permits), "tsem_set");
	}

	void wait_idle(unsigned flags = 0)
	{
		detail::check(::tsem_wait_idle(handle_, flags, nullptr), "tsem_wait_idle");
	}

	/* Whether it got idle in time. */
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

	struct ::tsem_stat stat() const
	{
		struct ::tsem_stat result = {};
		result.size = sizeof(result);
		detail::check(::tsem_stat(handle_, &result), "tsem_stat");
		return result;
	}

	/* Returns how many permits came back. */
	std::uint32_t recover()
	{
		std::uint32_t recovered = 0;
		detail::check(::tsem_recover(handle_, &recovered), "tsem_recover");
		return recovered;
	}

	/*
	 * Calls each(owner) with a const tsem_owner & for every holder, then for every waiter; to end that, it throws. What the
	 * owner points to is valid during the call.
	 */
	template <class Each> void owners(Each &&each) const
	{
		auto visit = [&each](const ::tsem_owner *owner) { each(*owner); };
		detail::visitor<decltype(visit), const ::tsem_owner *> visitor(visit);
		visitor.check(::tsem_owners(handle_, visitor.call, &visitor), "tsem_owners");
	}

	/* stat() and owners() of the same instant. */
	template <class Each> struct ::tsem_stat snapshot(Each &&each) const
	{
		struct ::tsem_stat result = {};
		result.size = sizeof(result);
		auto visit = [&each](const ::tsem_owner *owner) { each(*owner); };
		detail::visitor<decltype(visit), const ::tsem_owner *> visitor(visit);
		visitor.check(::tsem_snapshot(handle_, &result, visitor.call, &visitor), "tsem_snapshot");
		return result;
	}

	/* Calls each(name) with a const char * for every semaphore there is. */
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

	/* For the functions of tsem.h; still closed by this object, unless it is released. */
	::tsem *get() const noexcept
	{
		return handle_;
	}

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
 * Permits that are recorded for this process until unlock(), the end of the hold, or the end of the process. It may be
 * moved; at most one thread at a time uses it. Its semaphore must outlive it; moving the semaphore is fine.
 */
class hold
{
  public:
	/* Of no semaphore: usable for being assigned to. */
	hold() noexcept = default;

	/* Waits in line for `count` permits. */
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

	/* In a child of fork() this releases nothing: the hold is the parent's. */
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

	/* In a way of tsem.h: with progress, interruptible. That its deadline has passed is an error here. */
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

	/* By another clock, which may be set meanwhile: then the place in line is given up and taken anew. */
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

	/* operation_not_permitted: it is not held, or it is the parent's of this process. */
	void unlock(std::error_code &error) noexcept
	{
		error = detail::error_of(owns_ ? ::tsem_release(&hold_) : -EPERM);
		owns_ = false;
	}

	/* It now lasts as long as that process, which must be known to live. */
	void hand_over(::pid_t pid)
	{
		detail::check(owns_ ? ::tsem_hand_over(&hold_, pid) : -EPERM, "tsem_hand_over");
		owns_ = false;
	}

	/* The same for a process found by tsem_find_process(), which may have ended since: no_such_process. */
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

	/* TSEM_NO_SLOT if it is not held. */
	std::uint32_t slot() const noexcept
	{
		return owns_ ? ::tsem_hold_slot(&hold_) : TSEM_NO_SLOT;
	}

	/* One for each permit. */
	std::vector<std::uint32_t> slots() const
	{
		std::vector<std::uint32_t> result(owns_ ? count_ : 0);
		if (owns_)
			result.resize(::tsem_hold_slots(&hold_, result.data(), result.size()));
		return result;
	}

	/*
	 * A holder has died since the last one was told: what the semaphore protects may be half-done. std::lock() gives back
	 * what it got as long as it cannot have all, and the word goes with that; acquire_all() passes it on.
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

	/* The hold, or a void one, for the functions of tsem.h, such as tsem_lend() and tsem_adopt(); this object does not release it any more. */
	::tsem_hold release() noexcept
	{
		const ::tsem_hold given = owns_ ? hold_ : ::tsem_hold();
		owns_ = false;
		return given;
	}

	using semaphores = std::vector<std::reference_wrapper<semaphore>>;

	/* One permit of each, or an exception and none, in no danger of deadlock whatever the order. */
	static std::vector<hold> acquire_all(const semaphores &sems)
	{
		std::error_code error;
		std::vector<hold> result = acquire_all(sems, nullptr, error);
		detail::throw_if(error, "tsem_acquire_all");
		return result;
	}

	/* In a way of tsem.h, if it is not null; nothing with an error. */
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

	/* One permit of whichever has one first; `which` receives its index. */
	static hold acquire_any(const semaphores &sems, std::size_t &which)
	{
		std::error_code error;
		hold result = acquire_any(sems, nullptr, which, error);
		detail::throw_if(error, "tsem_acquire_any");
		return result;
	}

	/* In a way of tsem.h, if it is not null; a hold of no semaphore with an error. */
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

	/* The errors of std::unique_lock. */
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
