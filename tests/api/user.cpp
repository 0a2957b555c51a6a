/* SPDX-License-Identifier: MIT */
/* A user's first program in C++; compiled as C++11 and later with the installed library. */
#include <tsem.hpp>

#include <iostream>
#include <string>
#include <unistd.h>

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
			good = lock.owns_lock() && sem.stat().held == 2 && !sem.try_take();
		}
		good = good && sem.stat().held == 0;
		libtsem::semaphore::remove(name.c_str());
		return good ? 0 : 1;
	} catch (const std::system_error &error) {
		std::cerr << error.what() << '\n';
		tsem_remove(name.c_str(), TSEM_FORCE);
		return 1;
	}
}
