/* SPDX-License-Identifier: MIT */
/* Looking on: who holds, who waits, what semaphores there are. Changes nothing. */
#ifndef TSEM_LIB_INSPECT_H
#define TSEM_LIB_INSPECT_H

#include "handle.h"

/* The place in line of `ticket`, from 1: live or dead, those who wait in front of it count, places given up do not. */
uint32_t inspect_position(struct tsem *sem, uint64_t ticket);

#endif
