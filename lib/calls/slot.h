/* SPDX-License-Identifier: MIT */
/* Slots: each live holder may have numbers of its own, from 0 on, for resources that come in numbered pieces. */
#ifndef TSEM_LIB_SLOT_H
#define TSEM_LIB_SLOT_H

#include "protocol/handle.h"

/* The record and ticket of the hold that has slot `i` now. False: the slot is free. */
bool slot_holder(struct tsem *sem, uint32_t i, uint32_t *record, uint64_t *ticket);

#endif
