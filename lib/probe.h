/* SPDX-License-Identifier: MIT */
/*
 * Static probes for bpftrace(8), perf(1) and SystemTap, described in tsem(7). Each is one instruction that does nothing,
 * with a note in the ELF file about where it is and where its arguments are. The first is always the handle. Those on the way
 * without contention have no other: whatever else had to be at hand there would cost a register, and so more than the one
 * instruction.
 */
#ifndef TSEM_LIB_PROBE_H
#define TSEM_LIB_PROBE_H

#ifdef TSEM_PROBES
#include <sys/sdt.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* where the probes stand, in macros of sdt.h */
#endif
#define PROBE(name, sem, a, b) STAP_PROBE3(tsem, name, sem, a, b)
#define PROBE_SEM(name, sem) STAP_PROBE1(tsem, name, sem)
#else
#define PROBE(name, sem, a, b) \
	do {                       \
	} while (0)
#define PROBE_SEM(name, sem) \
	do {                     \
	} while (0)
#endif

#endif
