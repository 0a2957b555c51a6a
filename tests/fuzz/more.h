/* SPDX-License-Identifier: MIT */
/* Operations on several semaphores, on holds, and on semaphores in memory of the program. */
#ifndef TSEM_FUZZ_MORE_H
#define TSEM_FUZZ_MORE_H

#include "operations.h"

void more_set(struct session *session, uint32_t count);
void more_cancel(struct session *session, uint32_t count);
void more_wait_idle(struct session *session, uint32_t count);
void more_acquire_all(struct session *session, uint32_t count);
void more_acquire_any(struct session *session, uint32_t count);
void more_post_and_take(struct session *session, uint32_t count);
void more_slots(struct session *session, uint32_t count);
void more_snapshot(struct session *session, uint32_t count);
void more_take_wait(struct session *session, uint32_t count);
void more_reap_abandoned(struct session *session, uint32_t count);

/* Runs everything that is possible on the same content as memory of the program, with another size. */
void more_embedded(struct session *session, uint32_t count);
void more_init_embedded(struct session *session, uint32_t count);

#endif
