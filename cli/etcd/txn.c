/* SPDX-License-Identifier: MIT */
#include "etcd/txn.h"

#include <nettle/base64.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/store.h"

/* ---- requests ---- */

static void *
allocate(size_t size)
{
	void *memory = malloc(size);
	if (memory == NULL)
		abort();
	return memory;
}

static json_t *
base64(const char *bytes, size_t length)
{
	char *text = allocate(BASE64_ENCODE_RAW_LENGTH(length) + 1);
	base64_encode_raw(text, length, (const uint8_t *)bytes);
	json_t *json = json_stringn(text, BASE64_ENCODE_RAW_LENGTH(length));
	free(text);
	return json;
}

/* The end of a range is the first key after it: '0' follows '/' in ASCII. */
static json_t *
with_key(const char *key)
{
	const size_t length = strlen(key);
	json_t *json = json_object();
	json_object_set_new(json, "key", base64(key, length));
	if (key[length - 1] == '/') {
		char end[KEY_BYTES_MAX];
		snprintf(end, sizeof(end), "%.*s0", (int)length - 1, key);
		json_object_set_new(json, "range_end", base64(end, length));
	}
	return json;
}

static void
set_number(json_t *json, const char *key, int64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRId64, number);
	json_object_set_new(json, key, json_string(text));
}

json_t *
txn_new(void)
{
	json_set_alloc_funcs(allocate, free);
	return json_pack("{s:[], s:[], s:[]}", "compare", "success", "failure");
}

void
txn_compare(json_t *txn, const char *key, const char *target, const char *result, int64_t revision)
{
	json_t *json = with_key(key);
	json_object_set_new(json, "target", json_string(target));
	json_object_set_new(json, "result", json_string(result));
	set_number(json, target[0] == 'C' ? "create_revision" : "mod_revision", revision);
	json_array_append_new(json_object_get(txn, "compare"), json);
}

static void
append(json_t *txn, const char *when, const char *operation, json_t *json)
{
	json_array_append_new(json_object_get(txn, when), json_pack("{s:o}", operation, json));
}

void
txn_put_leased(json_t *txn, const char *when, const char *key, const json_t *value, int64_t lease)
{
	json_t *json = with_key(key);
	char *text = json_dumps(value, JSON_COMPACT);
	json_object_set_new(json, "value", base64(text, strlen(text)));
	free(text);
	if (lease != 0)
		set_number(json, "lease", lease);
	append(txn, when, "request_put", json);
}

void
txn_put(json_t *txn, const char *when, const char *key, const json_t *value)
{
	txn_put_leased(txn, when, key, value, 0);
}

void
txn_delete(json_t *txn, const char *when, const char *key)
{
	append(txn, when, "request_delete_range", with_key(key));
}

/* By their time of creation. `limit` 0: all of them. */
static json_t *
in_order(const char *key, const char *order, int64_t limit)
{
	json_t *json = with_key(key);
	json_object_set_new(json, "sort_target", json_string("CREATE"));
	json_object_set_new(json, "sort_order", json_string(order));
	if (limit > 0)
		set_number(json, "limit", limit);
	return json;
}

void
txn_range(json_t *txn, const char *when, const char *key)
{
	append(txn, when, "request_range", in_order(key, "ASCEND", 0));
}

void
txn_first(json_t *txn, const char *when, const char *key)
{
	append(txn, when, "request_range", in_order(key, "ASCEND", 1));
}

void
txn_last_before(json_t *txn, const char *when, const char *key, int64_t revision)
{
	json_t *json = in_order(key, "DESCEND", 1);
	json_object_set_new(json, "keys_only", json_true());
	set_number(json, "max_create_revision", revision - 1);
	append(txn, when, "request_range", json);
}

void
txn_keys(json_t *txn, const char *when, const char *key)
{
	json_t *json = with_key(key);
	json_object_set_new(json, "keys_only", json_true());
	append(txn, when, "request_range", json);
}

void
txn_make_serializable(json_t *txn)
{
	const json_t *operations = json_object_get(txn, "success");
	for (size_t i = 0; i < json_array_size(operations); i++) {
		json_t *range = json_object_get(json_array_get(operations, i), "request_range");
		json_object_set_new(range, "serializable", json_true());
	}
}

json_t *
txn_watch(const char *key, int64_t revision)
{
	json_t *json = with_key(key);
	set_number(json, "start_revision", revision);
	return json_pack("{s:o}", "create_request", json);
}

/* ---- answers ---- */

static void
decode(json_t *kv, const char *key)
{
	const json_t *coded = json_object_get(kv, key);
	const size_t length = json_string_length(coded);
	uint8_t *bytes = allocate(BASE64_DECODE_LENGTH(length) + 1);
	struct base64_decode_ctx context;
	size_t n = 0;
	base64_decode_init(&context);
	json_t *text = NULL;
	if (coded != NULL && base64_decode_update(&context, &n, bytes, length, json_string_value(coded)))
		text = json_stringn((const char *)bytes, n);
	json_object_set_new(kv, key, text != NULL ? text : json_string(""));
	free(bytes);
}

static const json_t *
range_of(const json_t *answer, size_t response)
{
	const json_t *one = json_array_get(json_object_get(answer, "responses"), response);
	return json_object_get(one, "response_range");
}

static json_t *
kvs_of(const json_t *answer, size_t response)
{
	return json_object_get(range_of(answer, response), "kvs");
}

void
txn_decode(json_t *answer)
{
	for (size_t response = 0; response < json_array_size(json_object_get(answer, "responses")); response++) {
		json_t *kvs = kvs_of(answer, response);
		for (size_t i = json_array_size(kvs); i-- > 0;) {
			json_t *kv = json_array_get(kvs, i);
			decode(kv, "key");
			decode(kv, "value");
			if (json_string_length(json_object_get(kv, "key")) == 0) /* no key of tsem */
				json_array_remove(kvs, i);
		}
	}
}

bool
txn_succeeded(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "succeeded"));
}

/* Numbers of 64 bits are strings; fields that are 0 are left out. */
static int64_t
number_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));
	return text == NULL ? 0 : strtoll(text, NULL, 10);
}

int64_t
txn_revision(const json_t *answer)
{
	return number_of(json_object_get(answer, "header"), "revision");
}

int64_t
txn_count(const json_t *answer, size_t response)
{
	return number_of(range_of(answer, response), "count");
}

static bool
read_kv(const json_t *json, struct kv *kv)
{
	if (json == NULL)
		return false;
	*kv = (struct kv){
		.key = json_string_value(json_object_get(json, "key")),
		.value = json_string_value(json_object_get(json, "value")),
		.create_revision = number_of(json, "create_revision"),
		.mod_revision = number_of(json, "mod_revision"),
		.lease = number_of(json, "lease"),
	};
	return kv->key != NULL && kv->value != NULL;
}

bool
txn_kv(const json_t *answer, size_t response, size_t i, struct kv *kv)
{
	return read_kv(json_array_get(kvs_of(answer, response), i), kv);
}

size_t
txn_kvs_n(const json_t *answer, size_t response)
{
	return json_array_size(kvs_of(answer, response));
}

bool
txn_event(json_t *event, struct kv *kv)
{
	json_t *json = json_object_get(event, "kv");
	if (json == NULL)
		return false;
	decode(json, "key");
	decode(json, "value");
	return read_kv(json, kv);
}

int64_t
txn_deleted(const json_t *answer, size_t response)
{
	const json_t *one = json_array_get(json_object_get(answer, "responses"), response);
	return number_of(json_object_get(one, "response_delete_range"), "deleted");
}
