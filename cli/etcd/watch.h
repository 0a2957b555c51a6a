/* SPDX-License-Identifier: MIT */
/* Being told by the store that keys have changed. */
#ifndef TSEM_CLI_ETCD_WATCH_H
#define TSEM_CLI_ETCD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "etcd/store.h"
#include "etcd/txn.h"
#include "etcd/wire.h"

enum { WATCH_KEYS_MAX = 4 * NAMES_MAX, WATCH_FROM_NOW = -1 /* instead of a revision */ };

struct watch {
	struct wire *wire;
	struct call *call; /* NULL: none is under way */
	size_t member;
	int64_t revision; /* that was the last one looked at when it began */
	char keys[WATCH_KEYS_MAX][KEY_BYTES_MAX];
	size_t n;
	bool changed; /* since it was set to false */
	/* Called for each key that was put or deleted, if not NULL. */
	void (*event)(void *arg, const struct kv *kv);
	void *arg;
	bool broken; /* it has to begin anew, after another look */
};

/*
 * Watches the keys (one that ends with a slash stands for all that begin with it) for all that has changed since
 * `revision`. If it does so already, goes on.
 */
void watch_begin(struct watch *watch, struct wire *wire, const char keys[][KEY_BYTES_MAX], size_t n, int64_t revision);

/* True: look again. */
bool watch_tells(struct watch *watch);

void watch_end(struct watch *watch);

#endif
