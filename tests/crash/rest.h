/* SPDX-License-Identifier: MIT */
/* What holds when no process uses a semaphore any more, for the sweeps and the storm. */
#ifndef TSEM_TESTS_CRASH_REST_H
#define TSEM_TESTS_CRASH_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "tsem.h"

enum { REST_TEXT = 200 };

/* ---- rest.c sees tsem.h ---- */

/*
 * No process waits, held and available are the capacity, and `least` to `most` are available. Otherwise false, and
 * `text` says what is wrong.
 */
bool is_at_rest(const struct tsem_stat *stat, uint64_t least, uint64_t most, char text[REST_TEXT]);

/*
 * A handle from before a removal must get nothing, even if the name belongs to a new semaphore: that one would not know
 * of the holder. Returns the first result that is not -EIDRM, or -EIDRM.
 */
int try_removed(tsem *sem);

/* ---- rest_records.c sees the memory of the segment ---- */

/* No record has an owner or another state than IDLE, and no process is said to wait for idleness. */
bool are_records_at_rest(tsem *sem, char text[REST_TEXT]);

#endif
