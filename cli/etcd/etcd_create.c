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
	const uint32_t permits = o->has_permits ? o->permits : 1;
	const uint32_t available = o->has_available ? o->available : permits;
	if (available > permits)
		die(o->name, "--available %u is more than -j %u (use at most that)", available, permits);
	etcd_open(&sem, o);
	if (etcd_create(&sem, permits, permits - available, &config)) {
		version_warn(&sem);
	} else {
		if (!o->exist_ok)
			die(o->name, "it already exists (see 'tsem show %s'; --exist-ok accepts it)", o->name);
		config_check_permits(&sem, &config, permits);
	}
	etcd_close(&sem);
	return EXIT_DONE;
}
