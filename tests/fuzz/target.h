/* SPDX-License-Identifier: MIT */
/*
 * The target: operations on a hostile segment. An input is either the image of a segment, or a program of steps that
 * write to a segment and call operations; program.h has the encoding. For any input, no operation may crash, hang, or
 * access memory outside the mapping.
 *
 * libFuzzer, AFL++, and replay.c with the corpus run the same target.
 */
#ifndef TSEM_FUZZ_TARGET_H
#define TSEM_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The semaphore that the process `pid` uses. tests/fuzz/run chooses the first part, so that it can clean up. */
void target_name(long pid, char name[64]);

/* Begins an operation: from here on it may sleep and the peer may act as often as in the one before. */
void target_new_operation(void);

/* A deadline in a moment, by the clock in use. */
struct timespec target_deadline(void);

/* Ends the program with SIGABRT, which the fuzzers count as a fault. */
_Noreturn void broken(const char *state, int64_t value);

#endif
