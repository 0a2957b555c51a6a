/* SPDX-License-Identifier: MIT */
/* A user's first program in C++; compiled as C++11 and later with the installed library. */
#include <tsem.hpp>

#include <iostream>
#include <string>
#include <unistd.h>

static uint64_t
held(const libtsem::semaphore &sem)
{
	struct tsem_stat stat = {};
	stat.size = sizeof(stat);
	const int rc = tsem_stat(sem.get(), &stat);
	return rc == 0 ? stat.held : UINT64_MAX;
}

int
main()
{
	const std::string name = "test.user.plus." + std::to_string(getpid());
	try {
		libtsem::semaphore sem = libtsem::semaphore::create(name.c_str(), 2);
		bool good = false;
		{
			const libtsem::hold one(sem);
			libtsem::hold another(sem, std::defer_lock);
			const std::unique_lock<libtsem::hold> lock(another, std::chrono::seconds(1));
			good = lock.owns_lock() && held(sem) == 2 && !sem.try_take();
		}
		good = good && held(sem) == 0;
		good = tsem_remove(name.c_str(), 0) == 0 && good;
		return good ? 0 : 1;
	} catch (const std::system_error &error) {
		std::cerr << error.what() << '\n';
		tsem_remove(name.c_str(), TSEM_FORCE);
		return 1;
	}
}
