/* SPDX-License-Identifier: MIT */
/* Only by the lock: a process closes its handle after each use, and takes its lock again for the next one. */
#define PROCESSES 2
#define RECORDS 1
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define LOCKS
#define CLOSES
#include "../tsem.pml"

proctype first(byte me)
{
	LOCALS;
	acquire(1, false);
	release(1);
	presence_close();
	acquire(1, false);
	release(1);
	presence_close();
	END
}

RECOVERER_OF(second, 0)

init { atomic { run first(0); run second(1); run kernel(); run rest() } }
