/* SPDX-License-Identifier: MIT */
/* The terminal while `tsem top` has it: taken, waited on for keys, and given back however that ends. */
#ifndef TSEM_CLI_TOP_SCREEN_H
#define TSEM_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

/* What screen_wait() returns beside the keys of curses. */
enum { SCREEN_TICK = -1, SCREEN_GONE = -2 };

/* False: the terminal cannot be used for that; nothing has been changed. */
bool screen_begin(void);

/* Gives it back as it was. */
void screen_end(void);

/*
 * The next key (KEY_RESIZE among them); SCREEN_TICK when it is `until_ns` of CLOCK_MONOTONIC; SCREEN_GONE when the
 * terminal is gone or a signal has come that ends the program.
 */
int screen_wait(uint64_t until_ns);

/* After screen_end(): if a signal has come, ends by it, for the parent to see. */
void screen_die_of_signal(void);

#endif
