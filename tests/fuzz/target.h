/* SPDX-License-Identifier: MIT */
/*
 * What is fuzzed: a hostile segment. An input is either the image of a segment, or a small program that scribbles over
 * a good one and calls operations in between; program.h has the encoding. Whatever comes, no operation may crash, hang,
 * or touch memory outside the map.
 *
 * The same target runs under libFuzzer, under AFL++, and in replay.c over the corpus.
 */
#ifndef TSEM_FUZZ_TARGET_H
#define TSEM_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The semaphore that the process `pid` scribbles over; tests/fuzz/run chooses the first part, to clean up after all. */
void target_name(long pid, char name[64]);

/* Ends the program with SIGABRT, which the fuzzers count as a fault. */
_Noreturn void broken(const char *state, long value);

#endif
