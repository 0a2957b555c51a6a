/* SPDX-License-Identifier: MIT */
#include "etcd/semaphore.h"
#include "etcd/verbs.h"
#include "message.h"
#include "view/show_json.h"
#include "view/show_table.h"

int
etcd_cmd_show(const struct options *o)
{
	static const char *const ranges[] = {"config", "holders/", "waiters/"};
	struct semaphore_on_etcd sem;
	struct snapshot snapshot;
	json_t *txn = txn_new();
	json_t *answer;
	require_stdout(o->name);
	etcd_open(&sem, o);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		char key[KEY_BYTES_MAX];
		etcd_key(&sem, ranges[i], key);
		txn_range(txn, "success", key);
	}
	etcd_commit(&sem, EFFECT_READS, txn, &answer);
	const int rc = etcd_snapshot(answer, 0, &snapshot);
	if (rc < 0)
		die_of_config(o, rc);
	if (o->view.json)
		show_json(o->name, &o->view, &snapshot);
	else
		show_table(o->name, &o->view, &snapshot);
	flush_stdout(o->name);
	snapshot_free(&snapshot);
	json_decref(answer);
	etcd_close(&sem);
	return EXIT_DONE;
}
