/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. A cached record is used again and again, into the next generation, while another process is
 * slow. A third process takes anonymously, which sends the next release to the slow path.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CACHES_RECORDS
#define BEGINS(me) (me == 0 || counter_diff(counter_value(T), COUNTER_START) >= 2)
#define WITHOUT_POSTS
#include "../tsem.pml"

HOLDER(first, 1, 6)
HOLDER(second, 1, 1)

/* Takes one permit if it is available, and keeps it. */
proctype third(byte me)
{
	LOCALS;
	BEGINS(me);
	arrive_if_enabled(1, TAG_NONE);
	END
}

init { atomic { run first(0); run second(1); run third(2); run rest() } }
