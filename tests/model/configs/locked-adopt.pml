/* SPDX-License-Identifier: MIT */
/*
 * Only by the lock: a child adopts its parent's hold while another process recovers. The child locks its byte by its
 * copy of the parent's descriptor. Up to two may die.
 */
#define LOCKS
#ifdef MUTANT_LOCK_ENDS_WITH_PARENT
#define DESCRIPTOR_IS_CLOSED(p) ((p) == 2 -> dead[2] : dead[0])
#else
#define DESCRIPTOR_IS_CLOSED(p) ((p) == 2 -> dead[2] : dead[0] && (!forked || dead[1]))
#endif
#define WITHOUT_HOLD -> EXIT
#define KERNEL run kernel();
#include "adopt.pml"
