/* SPDX-License-Identifier: MIT */
/* Cached records of two processes, of which one may die: the same count as before, and another. */
#define PROCESSES 2
#define RECORDS 2
#define CAPACITY 2
#define ARRAY_WORDS 2
#define CRASHES 1
#define CACHES_RECORDS
#include "../tsem.pml"

#define n_of(round) (round < 2 -> 1 : 2)

proctype first(byte me)
{
	byte round;
	LOCALS;
	do
	:: round < 3 -> acquire(n_of(round), false); release(n_of(round)); round++
	:: else -> break
	od;
	END
}

HOLDER(second, 1, 2)

init { atomic { run first(0); run second(1); run rest() } }
