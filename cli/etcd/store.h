/* SPDX-License-Identifier: MIT */
/* What a name says of its store: etcd:NAME, etcd://HOST:PORT[,HOST:PORT]/[PREFIX/]NAME[,NAME], or etcds:// for TLS. */
#ifndef TSEM_CLI_ETCD_STORE_H
#define TSEM_CLI_ETCD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "names.h"

/* etcd allows 128 comparisons and 128 operations in a transaction, and one over NAMES_MAX names needs up to that. */
enum { ENDPOINTS_MAX = 32, ENDPOINT_BYTES_MAX = 300, PREFIX_BYTES_MAX = 201, KEY_BYTES_MAX = 512, NAMES_MAX = 16 };

struct store {
	char endpoints[ENDPOINTS_MAX][ENDPOINT_BYTES_MAX]; /* as URLs: "http://host:2379" */
	size_t endpoints_n;
	char prefix[PREFIX_BYTES_MAX]; /* of all keys */
	const char *operand;           /* as the user typed it */
	size_t name_at;                /* where the name begins in it; what stands before it names the store */
	char names[NAMES_MAX][NAME_TEXT_MAX];
	size_t names_n; /* 0: the operand names the store only */
};

enum { OPERAND_TEXT_MAX = ENDPOINTS_MAX * ENDPOINT_BYTES_MAX + PREFIX_BYTES_MAX + NAME_TEXT_MAX };

/*
 * For an operand that has to name a semaphore, one or several, or only the store. They die of a mistake in the operand or
 * in ETCDCTL_ENDPOINTS.
 */
void store_parse_name(struct store *store, const char *operand);
void store_parse_names(struct store *store, const char *operand);
void store_parse_store(struct store *store, const char *operand);

/* What the user would type for the semaphore `name` of the store. */
void store_operand(const struct store *store, const char *name, char operand[OPERAND_TEXT_MAX]);

/* The value of an environment variable for the store; NULL if it is not set, or empty. */
const char *store_variable(const char *variable);

/* All endpoints with commas between them, for messages. */
const char *store_endpoints(const struct store *store);

#endif
