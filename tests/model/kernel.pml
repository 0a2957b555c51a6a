/* SPDX-License-Identifier: MIT */
/*
 * The kernel, in configurations that define LOCKS. It releases a lock at some time after the last process has ended that
 * has the descriptor. A configuration with children that inherit descriptors defines another condition.
 */
#ifndef DESCRIPTOR_IS_CLOSED
#define DESCRIPTOR_IS_CLOSED(p) dead[p]
#endif
#define RELEASES(p) :: d_step { is_locked(p) && DESCRIPTOR_IS_CLOSED(p) -> locked = locked & ~(1 << (p)) }

proctype kernel()
{
	do
	RELEASES(0)
	RELEASES(1)
#if PROCESSES > 2
	RELEASES(2)
#endif
#if PROCESSES > 3
	RELEASES(3)
#endif
	:: over -> break
	od
}
