/* SPDX-License-Identifier: MIT */
/*
 * No function of the library is a cancellation point, except for a wait with TSEM_CANCELABLE (queue.c). A thread that is cancelled inside the library would leave behind
 * what the call has taken: a place in the queue, a permit, a descriptor, memory. So each function that calls a
 * cancellation point of libc, or a function of the program, begins with NO_CANCELLATION. A pending cancellation takes
 * effect after the call.
 *
 * tsem_post() is async-signal-safe and calls such functions, too. POSIX does not list pthread_setcancelstate() as
 * async-signal-safe. In glibc and musl it takes no lock and writes one word of the calling thread, and this word has
 * its old value again when the function returns.
 *
 * A child of vfork() would write the word of its parent's thread, and a signal may kill the child before it restores
 * the word. So the functions that tsem_adopt() calls while the parent lives use syscall() instead, which is not a
 * cancellation point.
 */
#ifndef TSEM_SHM_CANCELLATION_H
#define TSEM_SHM_CANCELLATION_H

#include <pthread.h>

static inline int
cancellation_disable(void)
{
	int before;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void
cancellation_restore(const int *before)
{
	int disabled;
	pthread_setcancelstate(*before, &disabled);
}

/* Disables cancellation from here to the end of the block. A return restores it, too. */
#define NO_CANCELLATION \
	__attribute__((cleanup(cancellation_restore), unused)) const int cancellation_before = cancellation_disable()

#endif
