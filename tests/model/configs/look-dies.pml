/* SPDX-License-Identifier: MIT */
/* Two of three waiters die or are stopped, also in their looks: then the tick of the last one that is left counts. */
#define WAITERS 3
#define LEAVERS 0
#define FAULTS 2
#define ARRIVE_AT_ONCE
#define DEATH_FROM (SLOW_TICK - 2)
#define DEATH_BEFORE (SLOW_TICK + 1)
#define OVERDUE_MAX SLOW_TICK
#include "../look.pml"
