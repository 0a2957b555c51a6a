/* SPDX-License-Identifier: MIT */
#include "etcd/etcd_verbs.h"
#include "etcd/semaphore.h"
#include "message.h"
#include "view/show_table.h"

int
etcd_cmd_show(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct snapshot snapshot;
	require_stdout(o->name);
	etcd_open(&sem, o);
	const int rc = etcd_snapshot(&sem, &snapshot);
	if (rc < 0)
		die_of_config(&sem, rc);
	show(o, &snapshot);
	snapshot_free(&snapshot);
	etcd_close(&sem);
	return EXIT_DONE;
}
