/* SPDX-License-Identifier: MIT */
/* Two recover the same dead owner while another process releases and claims. Up to two may die. */
#define PROCESSES 4
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CRASHES 2
#include "../tsem.pml"

HOLDER(first, 1, 1)
HOLDER(second, 1, 1)
RECOVERER_OF(third, 0)
RECOVERER_OF(fourth, 0)

init { atomic { run first(0); run second(1); run third(2); run fourth(3); run rest() } }
