/* SPDX-License-Identifier: MIT */
/*
 * No deaths, no ticks. The capacity goes from 1 to 0 behind a holder, and two permits are posted while the setter gives up
 * its ticket. No waiter is in front of that ticket, so only the setter or the post can skip it. G is watched before the
 * post begins, and the setter changes its tag twice.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 4
#define SETTER
#define ORPHANS
#define BEGINS(me) (me == 0 || (me == 1 -> is_holder[0] : is_watched(counter_tag(G))))
#include "../tsem.pml"

proctype first(byte me)
{
	LOCALS;
	acquire(1, false);
	bump_grants();
	END
}

SETS(setter, 0)
POSTER(third, 2, 1)

init { atomic { run first(0); run setter(1); run third(2); run rest() } }
