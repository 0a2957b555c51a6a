/* SPDX-License-Identifier: MIT */
/* A process waits for idleness, while another one acquires and releases with a cached record, and may die. */
#define PROCESSES 2
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 1
#define IDLERS
#define CACHES_RECORDS
#include "../tsem.pml"

HOLDER(first, 1, 3)
IDLER(second, PENDING_IDLE)

init { atomic { run first(0); run second(1); run rest() } }
