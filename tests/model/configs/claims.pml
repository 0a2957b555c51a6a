/* SPDX-License-Identifier: MIT */
/* Two recover the only record, whose owner is dead, and another process claims it. Up to two may die. */
#define PROCESSES 4
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#include "../tsem.pml"

HOLDER(first, 1, 2)
HOLDER(second, 1, 1)
RECOVERER_OF(third, 0)
RECOVERER_OF(fourth, 0)

init { atomic { run first(0); run second(1); run third(2); run fourth(3); run rest() } }
