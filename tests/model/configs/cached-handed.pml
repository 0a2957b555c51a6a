/* SPDX-License-Identifier: MIT */
/*
 * A hold with a cached record is handed over. Another process releases it for the new owner, and may claim the record;
 * then the giver acquires again. One may die, and the new owner may end by itself.
 */
#define PROCESSES 3
#define RECORDS 2
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 1
#define TRANSFERS
#define CACHES_RECORDS
#include "../tsem.pml"

bool handed;

proctype giver(byte me)
{
	LOCALS;
	acquire(1, false);
	release(1);
	acquire(1, false);
	hand_over(1, 1);
	STEP(handed = true);
	acquire(1, false);
	release(1);
	END
}

proctype new_owner(byte me)
{
	LOCALS;
	if
	:: EXIT
	:: true
	fi;
	END
}

proctype helper(byte me)
{
	LOCALS;
	STEP_WHEN(handed || dead[0], skip);
	release_for(1, 1);
	acquire(1, false);
	release(1);
	END
}

init { atomic { run giver(0); run new_owner(1); run helper(2); run rest() } }
