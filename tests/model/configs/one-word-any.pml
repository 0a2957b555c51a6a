/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. Two permits. A releaser wakes only the bit of the waiter that it enables, while a waiter with a
 * later ticket falls asleep on the same word, on all bits, as a waiter for any of several semaphores does.
 */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 2
#define ARRAY_WORDS 2
#define ON_ALL_BITS 6
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 2, 1)
KEEPER(third, 2)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
