/* SPDX-License-Identifier: MIT */
#include "etcd/version.h"

#include <string.h>

#include "message.h"

/* etcd issue 15247: mended in 3.4.31, 3.5.13 and all of 3.6. */
static bool
ends_healthy_leases(const char *version)
{
	return strverscmp(version, "3.4.31") < 0
	       || (strncmp(version, "3.5.", strlen("3.5.")) == 0 && strverscmp(version, "3.5.13") < 0);
}

void
version_warn(struct semaphore_on_etcd *sem)
{
	static bool looked;
	json_t *answer;
	if (looked)
		return;
	looked = true;
	if (wire_get(sem->wire, "/version", sem->deadline_ns, &answer) != OUTCOME_DONE)
		return;
	const char *text = json_string_value(json_object_get(answer, "etcdserver"));
	if (text != NULL && ends_healthy_leases(text))
		complain(sem->store.operand,
		         "etcd %s may end the leases of healthy holders if its leader stalls (use 3.4.31, 3.5.13 or later)",
		         text);
	json_decref(answer);
}
