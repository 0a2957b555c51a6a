/* SPDX-License-Identifier: MIT */
/* A post that gives back what was taken anonymously, and nothing more. */
#ifndef TSEM_LIB_POST_H
#define TSEM_LIB_POST_H

#include "protocol/handle.h"

/* -EOVERFLOW: fewer than `count` permits are taken anonymously. -EBADMSG. */
int post_taken(struct tsem *sem, uint32_t count);

#endif
