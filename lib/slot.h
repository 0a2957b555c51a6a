/* SPDX-License-Identifier: MIT */
/* Slots: numbers from 0 on that live holders have, each its own, for whatever comes in numbered pieces. */
#ifndef TSEM_LIB_SLOT_H
#define TSEM_LIB_SLOT_H

#include "handle.h"

/* The hold that has slot `i` now: its record and ticket. False: it is free. */
bool slot_holder(struct tsem *sem, uint32_t i, uint32_t *record, uint64_t *ticket);

#endif
