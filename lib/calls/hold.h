/* SPDX-License-Identifier: MIT */
#ifndef TSEM_LIB_HOLD_H
#define TSEM_LIB_HOLD_H

#include "queue/queue.h"

/* Makes an enabled place a hold. -ECANCELED: the ticket was skipped; the place has been left. */
int hold_become(struct queue_place *place, tsem_hold *hold);

/* tsem_release() of a hold that its holder has not used: what the holder was told of goes to the next one. */
void hold_return(tsem_hold *hold);
#endif
