/* SPDX-License-Identifier: MIT */
#include "etcd/version.h"

#include <stdio.h>

#include "message.h"

/* etcd issue 15247: mended in 3.4.31, 3.5.13 and all of 3.6. */
static bool
ends_healthy_leases(int major, int minor, int patch)
{
	return major < 3 || (major == 3 && (minor < 4 || (minor == 4 && patch < 31) || (minor == 5 && patch < 13)));
}

void
version_warn(struct semaphore_on_etcd *sem)
{
	json_t *answer;
	int major;
	int minor;
	int patch;
	if (wire_get(sem->wire, "/version", sem->deadline_ns, &answer) != OUTCOME_DONE)
		return;
	const char *text = json_string_value(json_object_get(answer, "etcdserver"));
	if (text != NULL && sscanf(text, "%d.%d.%d", &major, &minor, &patch) == 3
	    && ends_healthy_leases(major, minor, patch))
		complain(sem->store.operand,
		         "etcd %s may end the leases of healthy holders if its leader stalls (use 3.4.31, 3.5.13 or later)",
		         text);
	json_decref(answer);
}
