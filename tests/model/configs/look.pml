/* SPDX-License-Identifier: MIT */
/* All waiters live, and none is stopped: a look of the last one, and a call. */
#define WAITERS 3
#define LEAVERS 0
#define FAULTS 0
#define OVERDUE_MAX (1 + TICK)
#include "../look.pml"
