/* SPDX-License-Identifier: MIT */
#include "queue/spin.h"

#include <sched.h>

#include "protocol/protocol.h"
#include "system/platform.h"

bool
wait_is_over(const struct tsem *sem, const struct waiter *waiter)
{
	return is_enabled(sem, waiter->ticket, waiter->count) || state_kind(LOAD_SEQ(&waiter->record->state)) == STATE_HELD;
}

#define ROUNDS_WORTH_IT 16 /* a smaller budget means that spins were in vain */

uint32_t
wait_spin_ceiling(void)
{
	static _Atomic uint32_t ceiling = UINT32_MAX;
	uint32_t known = LOAD_RLX(&ceiling);
	cpu_set_t cpus;
	if (known == UINT32_MAX) {
		/* The call fails on machines with more CPUs than the set has room for. */
		known = sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1 ? SPIN_MAX : 0;
		STORE_RLX(&ceiling, known);
	}
	return known;
}

/*
 * Without the backoff, two processes in tight loops exchange the permit, and the cache line of the counters, at every
 * step. With the backoff, each works for a while from its own cache. No process is overtaken: the process that has just
 * let a waiter in stays out of the queue for a moment, and only if no other process has returned a permit since. If
 * others wait behind that waiter, the permit goes to them next, and a backoff would only keep the processor busy.
 */
void
wait_backoff(const struct tsem *sem)
{
	const uint64_t limit = enabled_limit(sem);
	if (LOAD_RLX(&sem->spin) < ROUNDS_WORTH_IT || LOAD_RLX(&sem->last_handoff) != limit
	    || counter_value(LOAD_RLX(&sem->segment.header->tickets)) != limit)
		return;
	const uint64_t until = platform.now() + BACKOFF_FOR;
	do
		platform.pause();
	while (platform.now() < until);
}

/*
 * A spin that succeeds raises the number of rounds that the next one may take, and a spin in vain lowers it. Once the
 * number is not worth a spin, every 64th wait spins again to find out (after glibc's adaptive mutex, and Preshing).
 */
bool
wait_spinning(struct tsem *sem, const struct waiter *waiter)
{
	const uint32_t ceiling = wait_spin_ceiling();
	uint32_t rounds = LOAD_RLX(&sem->spin);
	if (ceiling == 0 || counter_diff(waiter->ticket, enabled_limit(sem)) >= 2)
		return false;
	const bool trial = rounds < ROUNDS_WORTH_IT;
	if (trial) {
		if ((ADD_RLX(&sem->spin_skipped, 1) & 63) != 0)
			return false;
		rounds = ceiling / 4;
	}

	for (uint32_t i = 0; i < rounds; i++) {
		platform.pause();
		if (wait_is_over(sem, waiter)) {
			STORE_RLX(&sem->spin, rounds + (ceiling - rounds) / 8);
			return true;
		}
	}
	STORE_RLX(&sem->spin, trial ? 0 : rounds - rounds / 4);
	return false;
}
