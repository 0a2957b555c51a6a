/* SPDX-License-Identifier: MIT */
/* The permits that `tsem take` took: no process holds them, and `tsem post` gives them back. */
#ifndef TSEM_CLI_ETCD_TAKEN_H
#define TSEM_CLI_ETCD_TAKEN_H

#include "etcd/txn.h"

struct taken {
	uint32_t count;
	int64_t mod_revision; /* 0: nothing was ever taken */
	char changer[24];     /* the id of the last change */
};

/* Reads it from what the range in response `response` has found. False: the value is none of tsem's. */
bool taken_read(const json_t *answer, size_t response, struct taken *taken);

/* Lets `txn` change the count at `key` to `count`, if no other process has changed it since it was read. */
void taken_change(json_t *txn, const char *key, const struct taken *was, uint32_t count, const char *changer);

#endif
