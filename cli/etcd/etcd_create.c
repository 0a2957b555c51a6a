/* SPDX-License-Identifier: MIT */
#include "etcd/etcd_verbs.h"
#include "etcd/semaphore.h"
#include "etcd/version.h"
#include "message.h"

int
etcd_cmd_create(const struct options *o)
{
	struct semaphore_on_etcd sem;
	struct config config;
	etcd_open(&sem, o);
	if (etcd_create(&sem, o, o->has_permits ? o->permits : 1, &config)) {
		version_warn(&sem);
	} else {
		if (!o->exist_ok)
			die(o->name, "it already exists (see 'tsem show %s'; --exist-ok accepts it)", o->name);
		config_check_permits(&config, o, o->has_permits ? o->permits : 1);
	}
	etcd_close(&sem);
	return EXIT_DONE;
}
