/* SPDX-License-Identifier: MIT */
/* No deaths, no ticks. A process waits twice, the second time on a word where another one sleeps already. */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 0
#define ARRAY_WORDS 2
#include "../tsem.pml"

proctype first(byte me)
{
	LOCALS;
	BEGINS(me);
	take(2, false);
	take(2, false);
	END
}
TAKER(second, 1, 1)
POSTER(third, 1, 3)

init { atomic { run first(0); run second(1); run third(2); run rest() } }
