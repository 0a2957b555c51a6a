/* SPDX-License-Identifier: MIT */
/*
 * Transactions as etcd's gateway reads and answers them. Keys and values are base64 on the wire, and text here. A key
 * that ends with a slash stands for all keys that begin with it.
 */
#ifndef TSEM_CLI_ETCD_TXN_H
#define TSEM_CLI_ETCD_TXN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An empty transaction. Without memory, the process aborts: a transaction that lacks one of its guards must not be sent.
 */
json_t *txn_new(void);

/* `target`: "CREATE" or "MOD". `result`: "EQUAL" or "LESS". Of many keys, each one has to satisfy it. */
void txn_compare(json_t *txn, const char *key, const char *target, const char *result, int64_t revision);

/* What the transaction does: `when` is "success" or "failure" of its comparisons. */
void txn_put(json_t *txn, const char *when, const char *key, const json_t *value);
void txn_put_leased(json_t *txn, const char *when, const char *key, const json_t *value, int64_t lease);
void txn_delete(json_t *txn, const char *when, const char *key);
void txn_range(json_t *txn, const char *when, const char *key); /* in the order of creation */
void txn_keys(json_t *txn, const char *when, const char *key);  /* without values, in the order of the keys */
void txn_first(json_t *txn, const char *when, const char *key); /* the oldest one */
void txn_last_before(json_t *txn, const char *when, const char *key, int64_t revision); /* without its value */

/* A request to watch a key from `revision` on. */
json_t *txn_watch(const char *key, int64_t revision);

/* Lets the member answer all ranges of the transaction by what it knows, without asking the others. */
void txn_make_serializable(json_t *txn);

/* ---- answers ---- */

struct kv {
	const char *key;   /* valid as long as the answer */
	const char *value; /* "" if it is not UTF-8 */
	int64_t create_revision;
	int64_t mod_revision;
	int64_t lease; /* 0: none */
};

/* Decodes the keys and values of the answer. Call it once. */
void txn_decode(json_t *answer);

bool txn_succeeded(const json_t *answer);

/* The revision of the store that the answer shows, or has made. */
int64_t txn_revision(const json_t *answer);

/* How many keys the range in response `response` has found, also those beyond its limit and those that are not text. */
int64_t txn_count(const json_t *answer, size_t response);

/* The key at index `i` of what the range in response `response` has found. False: there is none. */
bool txn_kv(const json_t *answer, size_t response, size_t i, struct kv *kv);

/* How many of them there are. */
size_t txn_kvs_n(const json_t *answer, size_t response);

/* The key that an event of a watch is about; deleted, it has no create revision. Decodes it, so call it once. */
bool txn_event(json_t *event, struct kv *kv);

/* How many keys the deletion in that response has deleted. */
int64_t txn_deleted(const json_t *answer, size_t response);

#endif
