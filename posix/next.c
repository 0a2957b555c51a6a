/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct next functions;
static _Atomic bool known;

/* Another library may be initialized earlier, and then next() calls this. Each call stores the same. */
static __attribute__((constructor)) void
find(void)
{
	*(void **)&functions.wait = dlsym(RTLD_NEXT, "sem_wait");
	*(void **)&functions.trywait = dlsym(RTLD_NEXT, "sem_trywait");
	*(void **)&functions.timedwait = dlsym(RTLD_NEXT, "sem_timedwait");
	*(void **)&functions.clockwait = dlsym(RTLD_NEXT, "sem_clockwait");
	*(void **)&functions.post = dlsym(RTLD_NEXT, "sem_post");
	*(void **)&functions.getvalue = dlsym(RTLD_NEXT, "sem_getvalue");
	atomic_store_explicit(&known, true, memory_order_release);
}

const struct next *
next(void)
{
	if (!atomic_load_explicit(&known, memory_order_acquire))
		find();
	return &functions;
}
