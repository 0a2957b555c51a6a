/* SPDX-License-Identifier: MIT */
/*
 * Static probes for bpftrace(8), perf(1) and SystemTap, described in tsem(7). A probe is one instruction that does
 * nothing, and a note in the ELF file with its address and the places of its arguments. The first argument is always
 * the handle. The probes on the fast path have no other, because each further argument would need a register.
 */
#ifndef TSEM_LIB_PROBE_H
#define TSEM_LIB_PROBE_H

#ifdef TSEM_PROBES
#include <sys/sdt.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* the macros of sdt.h */
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
