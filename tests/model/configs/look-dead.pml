/* SPDX-License-Identifier: MIT */
/* The first waiter has been killed in its sleep: it may be called, and does not come. */
#define WAITERS 4
#define LEAVERS 0
#define FAULTS 0
#define FIRST_IS_DEAD
#define OVERDUE_MAX (1 + 2 * TICK)
#include "../look.pml"
