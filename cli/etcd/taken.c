/* SPDX-License-Identifier: MIT */
#include "etcd/taken.h"

#include <stdio.h>

bool
taken_read(const json_t *answer, size_t response, struct taken *taken)
{
	struct kv kv;
	*taken = (struct taken){.count = 0};
	if (!txn_kv(answer, response, 0, &kv))
		return true;
	json_t *json = json_loads(kv.value, 0, NULL);
	const json_int_t count = json_integer_value(json_object_get(json, "count"));
	const char *changer = json_string_value(json_object_get(json, "changer"));
	const bool good = json_is_integer(json_object_get(json, "count")) && count >= 0 && count <= UINT32_MAX;
	taken->count = good ? (uint32_t)count : 0;
	taken->mod_revision = kv.mod_revision;
	snprintf(taken->changer, sizeof(taken->changer), "%s", changer != NULL ? changer : "");
	json_decref(json);
	return good;
}

void
taken_change(json_t *txn, const char *key, const struct taken *was, uint32_t count, const char *changer)
{
	json_t *value = json_pack("{s:I, s:s}", "count", (json_int_t)count, "changer", changer);
	txn_compare(txn, key, "MOD", "EQUAL", was->mod_revision);
	txn_put(txn, "success", key, value);
	json_decref(value);
}
