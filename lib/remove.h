/* SPDX-License-Identifier: MIT */
#ifndef TSEM_LIB_REMOVE_H
#define TSEM_LIB_REMOVE_H

/*
 * A segment that was removed, and whose name is still or again there, is nobody's any more: unlinks it. -ENOENT: the name
 * is free. `flags` of tsem_open().
 */
int remove_leftover(const char *name, unsigned flags);

#endif
