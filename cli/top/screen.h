/* SPDX-License-Identifier: MIT */
/* Takes the terminal, waits for keys, and restores the terminal however the program ends. */
#ifndef TSEM_CLI_TOP_SCREEN_H
#define TSEM_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

/* screen_wait() returns these or a key of curses. */
enum { SCREEN_TICK = -1, SCREEN_GONE = -2 };

/* False if the terminal cannot be drawn on; then nothing has changed. */
bool screen_begin(void);

/* Restores the terminal. */
void screen_end(void);

/*
 * Returns the next key, which may be KEY_RESIZE; SCREEN_TICK at `until_ns` of monotonic_ns(); SCREEN_GONE if the
 * terminal is gone or a terminating signal has arrived.
 */
int screen_wait(uint64_t until_ns);

/* Called after screen_end(). Dies of the terminating signal if one has arrived. */
void screen_die_of_signal(void);

#endif
