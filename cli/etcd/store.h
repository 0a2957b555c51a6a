/* SPDX-License-Identifier: MIT */
/* What a name says of its store: etcd:NAME, etcd://HOST:PORT[,HOST:PORT]/[PREFIX/]NAME, or etcds:// for TLS. */
#ifndef TSEM_CLI_ETCD_STORE_H
#define TSEM_CLI_ETCD_STORE_H

#include <stdbool.h>
#include <stddef.h>

enum { ENDPOINTS_MAX = 32, ENDPOINT_BYTES_MAX = 300, PREFIX_BYTES_MAX = 201, KEY_BYTES_MAX = 512 };

struct store {
	char endpoints[ENDPOINTS_MAX][ENDPOINT_BYTES_MAX]; /* as URLs: "http://host:2379" */
	size_t endpoints_n;
	char prefix[PREFIX_BYTES_MAX]; /* of all keys */
	const char *operand;           /* as the user typed it */
	size_t name_at;                /* where the name begins in it; what stands before it names the store */
	const char *name;              /* empty: the operand names the store only */
};

/*
 * For an operand that has to name a semaphore, or only the store. They die of a mistake in the operand or in
 * ETCDCTL_ENDPOINTS.
 */
void store_parse_name(struct store *store, const char *operand);
void store_parse_store(struct store *store, const char *operand);

/* The value of an environment variable for the store; NULL if it is not set, or empty. */
const char *store_variable(const char *variable);

/* All endpoints with commas between them, for messages. */
const char *store_endpoints(const struct store *store);

#endif
