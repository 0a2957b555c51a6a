/* SPDX-License-Identifier: MIT */
/* Recovery of all records. look.h says which sleeping process runs it, and when. */
#ifndef TSEM_LIB_RECOVER_H
#define TSEM_LIB_RECOVER_H

#include "protocol/handle.h"

/* Recovers all holders and the front of the queue. */
void recover_all(struct tsem *sem, uint32_t *permits);

/* recover_all() for a try that is about to fail, at most every 10 ms for each handle. True: it ran, so try again. */
bool recover_before_failing(struct tsem *sem);

/* Frees the records of dead owners that have neither a permit nor a ticket. Returns their number. */
uint32_t recover_unused_records(struct tsem *sem);

#endif
