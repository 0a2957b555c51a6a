/* SPDX-License-Identifier: MIT */
/* A record is used again and again while another process is slow: old tags and generations. Both may die. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CRASHES 2
#include "../tsem.pml"

HOLDER(first, 1, 3)
HOLDER(second, 1, 1)

init { atomic { run first(0); run second(1); run rest() } }
