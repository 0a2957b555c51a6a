/* SPDX-License-Identifier: MIT */
/* What the tests of tsem.hpp share. */
#ifndef TSEM_TESTS_PLUS_HPP
#define TSEM_TESTS_PLUS_HPP

#include "tsem.hpp"

#include "support.h"

#include <cstdlib>
#include <exception>

using libtsem::hold;
using libtsem::semaphore;

/* The error that the action throws, or none. */
template <class Action>
inline std::error_code
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
inline void
say_and_exit()
{
	try {
		throw;
	} catch (const std::exception &exception) {
		print_error("Bail out! %s\n", exception.what());
	}
	exit(99);
}

#endif
