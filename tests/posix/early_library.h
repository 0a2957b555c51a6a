/* SPDX-License-Identifier: MIT */
#ifndef TSEM_TESTS_EARLY_LIBRARY_H
#define TSEM_TESTS_EARLY_LIBRARY_H

#include <stdbool.h>

extern bool has_begun;
#endif
