/* SPDX-License-Identifier: MIT */
/*
 * No function of the library is a cancellation point. A thread that ended inside the library would leave behind what that
 * call has taken: a place in line, a permit, a descriptor, memory. So a function that calls a cancellation point of libc, or
 * a function of the program's, begins with NO_CANCELLATION. A cancellation that is pending takes effect behind the call.
 *
 * tsem_post() gets to such functions, too. POSIX does not list pthread_setcancelstate() as async-signal-safe, but in glibc
 * and musl it takes no lock and writes one word of the calling thread, which has its old value again at the end.
 *
 * A child of vfork() would write the word of its parent's thread, and may be killed before it has restored it. What
 * tsem_adopt() calls while the parent lives uses syscall() instead, which is no cancellation point.
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

/* From here to the end of the block, however that is left. */
#define NO_CANCELLATION \
	__attribute__((cleanup(cancellation_restore), unused)) const int cancellation_before = cancellation_disable()

#endif
