/* SPDX-License-Identifier: MIT */
/* Up to two of three waiters give up: the first takes their place, once its longer time has passed. */
#define WAITERS 3
#define FAULTS 0
#define LEAVERS 2
#define ARRIVE_AT_ONCE
#define OVERDUE_MAX SLOW_TICK
#include "../look.pml"
