/* SPDX-License-Identifier: MIT */
/*
 * libtsem for C++, from C++11 on: a semaphore and a hold that clean up after themselves. They need no other library.
 * The functions of tsem.h do the rest, with get().
 *
 *     libtsem::semaphore sem = libtsem::semaphore::open("encode");
 *     libtsem::hold permit(sem);           // waits in the queue; the end of the scope releases it
 *
 *     libtsem::hold other(sem, std::defer_lock);
 *     if (other.try_lock_for(std::chrono::seconds(5)))
 *         ...
 *
 * Errors are std::system_error with the error numbers of the C functions; a try that gets no permit returns false.
 *
 * tsem(3) is the reference, in its section "C++".
 */
#ifndef TSEM_HPP
#define TSEM_HPP

#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "tsem.h"

namespace libtsem
{
namespace detail
{

inline void
check(int rc, const char *what)
{
	if (rc < 0)
		throw std::system_error(-rc, std::generic_category(), what);
}

/* Whether a try has succeeded. */
inline bool
has_got(int rc, const char *what)
{
	if (rc == -EAGAIN || rc == -ETIMEDOUT)
		return false;
	check(rc, what);
	return true;
}

template <class Duration> using steady_time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/* A deadline for the C library. std::chrono::steady_clock is CLOCK_MONOTONIC on Linux. */
class deadline
{
  public:
	template <class Duration> explicit deadline(const steady_time<Duration> &at)
	{
		const std::chrono::nanoseconds since_start = limited(at.time_since_epoch());
		time_.tv_sec = static_cast<time_t>(since_start / std::chrono::seconds(1));
		time_.tv_nsec = static_cast<long>((since_start % std::chrono::seconds(1)).count());
	}

	template <class Rep, class Period>
	explicit deadline(const std::chrono::duration<Rep, Period> &from_now)
		: deadline(std::chrono::steady_clock::now() + limited(from_now))
	{
	}

	const struct timespec *get() const noexcept { return time_.tv_sec < never() ? &time_ : nullptr; }

  private:
	/* A deadline thirty years after the start of the machine means no deadline: a later one might not fit. */
	static constexpr int never() { return 1000000000; }

	template <class Rep, class Period>
	static std::chrono::nanoseconds limited(const std::chrono::duration<Rep, Period> &time)
	{
		const std::chrono::duration<double> seconds = time;
		if (seconds.count() >= never())
			return std::chrono::seconds(never());
		if (!(seconds.count() > 0))
			return std::chrono::seconds(0);
		const auto rounded = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
		return rounded < time ? rounded + std::chrono::nanoseconds(1) : rounded; /* no deadline is early */
	}

	struct timespec time_ = {};
};

} // namespace detail

/* A handle on one semaphore. The object may be moved, and must outlive its holds. */
class semaphore
{
  public:
	/* Has no handle; another semaphore may be assigned to it. */
	semaphore() noexcept = default;
	/* Takes over a handle of the C functions: the end of the object closes it. */
	explicit semaphore(::tsem *handle) noexcept : handle_(handle) {}

	explicit operator bool() const noexcept { return handle_ != nullptr; }
	/* For the functions of tsem.h. The object still closes the handle. */
	::tsem *get() const noexcept { return handle_.get(); }
	/* The object no longer closes the handle. */
	::tsem *release() noexcept { return handle_.release(); }

	/* The arguments are the members of struct tsem_config. */
	static semaphore create(const char *name, uint32_t permits, unsigned flags = 0, uint32_t max = 0, ::mode_t mode = 0)
	{
		const struct ::tsem_config config = config_of(permits, flags, max, mode);
		::tsem *handle = nullptr;
		detail::check(::tsem_create(name, &config, &handle), "tsem_create");
		return semaphore(handle);
	}

	static semaphore open(const char *name, unsigned flags = 0)
	{
		::tsem *handle = nullptr;
		detail::check(::tsem_open(name, flags, &handle), "tsem_open");
		return semaphore(handle);
	}

	/* A semaphore in memory of the program: the first function makes it, the second opens it. */
	static semaphore init_at(void *memory, size_t size, uint32_t permits, uint32_t max = 0)
	{
		const struct ::tsem_config config = config_of(permits, 0, max, 0);
		::tsem *handle = nullptr;
		detail::check(::tsem_init_at(memory, size, &config, &handle), "tsem_init_at");
		return semaphore(handle);
	}

	static semaphore open_at(void *memory, size_t size)
	{
		::tsem *handle = nullptr;
		detail::check(::tsem_open_at(memory, size, &handle), "tsem_open_at");
		return semaphore(handle);
	}

	/* The anonymous pair: no owner is recorded for the permits. */
	void take(uint32_t count = 1) { detail::check(::tsem_take(get(), count, nullptr), "tsem_take"); }
	bool try_take(uint32_t count = 1) { return detail::has_got(::tsem_try_take(get(), count), "tsem_take"); }

	template <class Rep, class Period>
	bool try_take_for(const std::chrono::duration<Rep, Period> &time, uint32_t count = 1)
	{
		return detail::has_got(::tsem_take(get(), count, detail::deadline(time).get()), "tsem_take");
	}

	template <class Duration> bool try_take_until(const detail::steady_time<Duration> &time, uint32_t count = 1)
	{
		return detail::has_got(::tsem_take(get(), count, detail::deadline(time).get()), "tsem_take");
	}

	/* Returns the number of permits that were available before. */
	uint32_t post(uint32_t count = 1)
	{
		uint32_t previous = 0;
		detail::check(::tsem_post(get(), count, &previous), "tsem_post");
		return previous;
	}

  private:
	/* By name: C++ has no designated initializers before C++20. */
	static struct ::tsem_config config_of(uint32_t permits, unsigned flags, uint32_t max, ::mode_t mode) noexcept
	{
		struct ::tsem_config config = {};
		config.size = sizeof(config);
		config.permits = permits;
		config.max = max;
		config.mode = mode;
		config.flags = flags;
		return config;
	}

	struct closer {
		void operator()(::tsem *handle) const noexcept { ::tsem_close(handle); }
	};

	std::unique_ptr<::tsem, closer> handle_;
};

/*
 * Permits that are recorded for this process until unlock(), the end of the object, or the end of the process. The
 * object may be moved, and its semaphore must outlive it. A hold is TimedLockable in the sense of the standard.
 */
class hold
{
  public:
	/* Belongs to no semaphore; another hold may be assigned to it. */
	hold() noexcept = default;
	hold(semaphore &sem, std::defer_lock_t, uint32_t count = 1) noexcept : sem_(sem.get()), count_(count) {}
	/* Waits in the queue for `count` permits. */
	explicit hold(semaphore &sem, uint32_t count = 1) : hold(sem, std::defer_lock, count) { lock(); }

	hold(semaphore &sem, std::try_to_lock_t, uint32_t count = 1) : hold(sem, std::defer_lock, count) { try_lock(); }

	/* Takes over a hold of the C functions. */
	hold(semaphore &sem, std::adopt_lock_t, const ::tsem_hold &got, uint32_t count = 1) noexcept
		: sem_(sem.get()), count_(count), owns_(true), hold_(got)
	{
	}

	hold(hold &&other) noexcept : sem_(other.sem_), count_(other.count_), owns_(other.owns_), hold_(other.release()) {}

	hold &operator=(hold other) noexcept
	{
		std::swap(sem_, other.sem_);
		std::swap(count_, other.count_);
		std::swap(owns_, other.owns_);
		std::swap(hold_, other.hold_);
		return *this;
	}

	/* In a child of fork() this releases nothing: the parent still owns the hold. */
	~hold() { ::tsem_release(&hold_); }

	void lock()
	{
		detail::check(::tsem_acquire(unlocked(), count_, nullptr, &hold_), "tsem_acquire");
		owns_ = true;
	}

	bool try_lock() { return got(::tsem_try_acquire(unlocked(), count_, &hold_)); }

	template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
	{
		return got(::tsem_acquire(unlocked(), count_, detail::deadline(time).get(), &hold_));
	}

	template <class Duration> bool try_lock_until(const detail::steady_time<Duration> &time)
	{
		return got(::tsem_acquire(unlocked(), count_, detail::deadline(time).get(), &hold_));
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

	/* operation_not_permitted: the object holds nothing, or the parent of this process owns the hold. */
	void unlock()
	{
		::tsem_hold ended = release();
		detail::check(::tsem_release(&ended), "tsem_release");
	}

	bool owns_lock() const noexcept { return owns_; }
	uint32_t count() const noexcept { return count_; }

	/* For functions such as tsem_hold_slot(). Without permits the hold is void. */
	const ::tsem_hold *get() const noexcept { return &hold_; }

	/* For functions such as tsem_hand_over(). The object no longer releases the hold. */
	::tsem_hold release() noexcept
	{
		const ::tsem_hold given = hold_;
		hold_ = ::tsem_hold();
		owns_ = false;
		return given;
	}

  private:
	/* The errors are those of std::unique_lock. */
	::tsem *unlocked() const
	{
		detail::check(sem_ == nullptr ? -EPERM : owns_ ? -EDEADLK : 0, "tsem_acquire");
		return sem_;
	}

	bool got(int rc)
	{
		owns_ = detail::has_got(rc, "tsem_acquire");
		return owns_;
	}

	::tsem *sem_ = nullptr;
	uint32_t count_ = 1;
	bool owns_ = false;
	::tsem_hold hold_ = {}; /* void if not owns_ */
};

} // namespace libtsem

#endif
