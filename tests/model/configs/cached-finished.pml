/* SPDX-License-Identifier: MIT */
/* A process with a cached record may die; another process finishes its steps, and a third one recovers it. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CRASHES 1
#define MORTAL 1
#define CACHES_RECORDS
#include "../tsem.pml"

HOLDER(first, 1, 2)
HOLDER(second, 1, 1)
RECOVERER(third)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
