/* SPDX-License-Identifier: MIT */
/*
 * The only record is cached, and then freed by a close, so that another process claims it. Two more recover it. Up to
 * two may die.
 */
#define PROCESSES 4
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#define CACHES_RECORDS
#include "../tsem.pml"

CLOSER(first, 1, 3)
CLOSER(second, 1, 2)
RECOVERER_OF(third, 0)
RECOVERER_OF(fourth, 0)

init { atomic { run first(0); run second(1); run third(2); run fourth(3); run rest() } }
