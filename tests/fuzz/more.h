/* SPDX-License-Identifier: MIT */
/* The operations on more than permits of one semaphore in a file. */
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

/* The same content as memory of one's own, of another size, and everything that can be done there. */
void more_embedded(struct session *session, uint32_t count);
void more_init_embedded(struct session *session, uint32_t count);

#endif
