/* SPDX-License-Identifier: MIT */
/* Two of three waiters die or are stopped, also in their looks: then the tick of the last one that is left counts. */
#define WAITERS 3
#define FAULTS 2
#define ARRIVE_AT_ONCE
#define DEATH_BEFORE (1 + TICK)
#define OVERDUE_MAX SLOW_TICK
#include "../look.pml"
