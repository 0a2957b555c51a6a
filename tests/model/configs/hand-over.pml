/* SPDX-License-Identifier: MIT */
/* A hold is handed over to a process that itself acquires, and released for it. Up to two may die. */
#define PROCESSES 3
#define RECORDS 3
#define CAPACITY 1
#define ARRAY_WORDS 2
#define CRASHES 2
#define TRANSFERS
#include "../tsem.pml"

bool handed;

proctype giver(byte me)
{
	LOCALS;
	acquire(1, false);
	hand_over(1, 1);
	STEP(handed = true);
	END
}

HOLDER(new_owner, 1, 1)

proctype helper(byte me)
{
	LOCALS;
	STEP_WHEN(handed || dead[0], skip);
	release_for(1, 1);
	END
}

init { atomic { run giver(0); run new_owner(1); run helper(2); run rest() } }
